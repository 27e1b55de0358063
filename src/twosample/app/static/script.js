"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const make = (tag, text = "") => Object.assign(document.createElement(tag), { textContent: text });
  const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
  const size = (bytes) => (bytes < 1e3 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
  const SLOTS = ["first", "second"];
  const SHOWN = 300; // of the columns that fit the filter

  let session = null;
  const FEW_GROUPS = 12; // a column with more is not taken for the grouping unless it is chosen
  let seen = { files: [null, null], columns: [], others: [], groupings: [] };
  let chosen = new Set();
  let looks = 0;
  let polling = 0;

  class Refused extends Error {}

  // ---- requests

  const send = async (method, path, body) => {
    let answer;
    try {
      answer = await fetch(path, { method, body });
    } catch {
      throw new Refused("The app does not answer. If it was stopped, start it again and use the address that it prints.");
    }
    if (answer.status === 410) session = null;
    if (!answer.ok) {
      const said = await answer.json().catch(() => ({}));
      throw new Refused(said.message || `The app refused this (${answer.status}).`);
    }
    return answer;
  };
  let opening = null;
  const begin = async () => {
    if (!session) {
      opening = opening || send("POST", "sessions").then((answer) => answer.json());
      try {
        session = await opening;
      } finally {
        opening = null;
      }
    }
    return `sessions/${session.session}`;
  };
  const ask = async (method, path, body) => send(method, `${await begin()}/${path}`, body);
  const askJson = async (path, body) => (await ask("POST", path, JSON.stringify(body))).json();

  const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
  const complain = (place, ...texts) => byId(place).replaceChildren(...texts.map((text) => make("p", sentence(text))));
  const attempt = async (place, work) => {
    try {
      complain(place);
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      complain(place, error.message);
      return false;
    }
  };

  // ---- files

  const put = async (slot, file) => {
    await begin();
    if (file.size > session.limit) {
      throw new Refused(
        `“${file.name}” is larger than ${session.limit_words}; raise the limit by starting the app with --max-size, ` +
        "or use the command “twosample test”, which has none"
      );
    }
    byId("file-status").textContent = `Taking ${file.name} …`;
    await ask("PUT", `files/${slot}?name=${encodeURIComponent(file.name)}`, file);
  };
  const take = async (files, slot) => {
    const places = files.length > 1 ? SLOTS : [slot];
    await attempt("file-error", async () => {
      for (const [i, place] of places.entries()) await put(place, files[i]);
    });
    await look();
    if (files.length > 2) complain("file-error", "only the first two of the files were taken");
  };
  const reading = () => Object.fromEntries(all("#reading [name]").map((field) => [field.name, field.value]));

  const look = async () => {
    const number = ++looks;
    byId("file-status").textContent = "Reading …";
    const before = byId("file-error").textContent;
    try {
      const answer = await askJson("look", { reading: reading() });
      if (number !== looks) return;
      seen = answer;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (number === looks) complain("file-error", error.message);
      byId("file-status").textContent = "";
      return;
    }
    byId("file-status").textContent = "";
    const errors = seen.files.filter((file) => file && file.error).map((file) => file.error);
    if (errors.length || !before) complain("file-error", ...errors);
    const notes = [...new Set(seen.files.flatMap((file) => (file ? file.notes : [])))];
    byId("file-notes").hidden = !notes.length;
    byId("file-notes").replaceChildren(...notes.map((note) => make("li", sentence(note))));
    showFiles();
    showForm();
  };

  const showFiles = () => {
    for (const [i, slot] of SLOTS.entries()) {
      const box = document.querySelector(`[data-slot=${slot}]`);
      const file = seen.files[i];
      box.classList.toggle("full", Boolean(file));
      box.classList.toggle("bad", Boolean(file && file.error));
      box.querySelector(".remove").hidden = !file;
      box.querySelector(".words").textContent = file ? "Choose another" : "Choose a file";
      const about = box.querySelector(".about");
      if (!file) about.textContent = "CSV, Parquet, Arrow or Excel";
      else {
        const what = file.error ? "cannot be read" : `${count(file.rows, "row")}, ${count(file.columns, "column")}`;
        about.replaceChildren(make("b", file.name), `${what}, ${size(file.size)}`);
      }
    }
  };

  // ---- the form

  const grouping = () => seen.groupings.find((one) => one.name === byId("by").value);
  // Options are "no", "yes" and "=" with the name of a column.
  const identifier = () => {
    const value = byId("paired").value;
    return value.startsWith("=") ? value.slice(1) : null;
  };
  const candidates = () => {
    const by = !byId("split").hidden && byId("by").value;
    return seen.columns.filter((column) => column.name !== by && column.name !== identifier());
  };
  const fill = (select, options, value) => {
    select.replaceChildren(...options.map(([name, words]) => Object.assign(make("option", words), { value: name })));
    if (options.some(([name]) => name === value)) select.value = value;
  };
  const showGroups = () => {
    const found = grouping();
    const groups = found ? found.groups.map(([name, rows]) => [name, `${name} (${count(rows, "row")})`]) : [];
    const every = groups.length > 2 ? [["", `all ${groups.length} groups`]] : [];
    fill(byId("group-first"), [...every, ...groups], groups[0] && groups[0][0]);
    fill(byId("group-second"), groups, groups[1] && groups[1][0]);
  };
  const showForm = () => {
    const files = seen.files.filter(Boolean);
    const whole = files.length > 0 && files.every((file) => !file.error);
    const single = files.length === 1;
    byId("split").hidden = !(whole && single);
    if (single) {
      const before = byId("by").value;
      const grouped = seen.groupings.filter((one) => one.groups.length <= FEW_GROUPS && one.groups.every((group) => group[1] > 1));
      const likely = grouped.find((one) => one.groups.length === 2) || grouped[0];
      const names = seen.groupings.map((one) => [one.name, `${one.name} (${count(one.groups.length, "value")})`]);
      if (!likely) names.unshift(["", "choose a column"]);
      fill(byId("by"), names, seen.groupings.some((one) => one.name === before) ? before : likely ? likely.name : "");
      showGroups();
    }
    const splits = !single || seen.groupings.length > 0;
    byId("split").hidden = byId("split").hidden || !splits;
    byId("form").hidden = !whole;
    if (whole && !splits) {
      byId("file-status").textContent =
        "Choose a second file. No column of this one can split it: that takes a column with 2 to 100 different values. Or ask one of the last two questions below.";
    }
    const both = [...seen.columns, ...seen.others].filter((column) => column.name && !column.kind.startsWith("only"));
    const pairs = both.map((column) => [`=${column.name}`, `by column ${column.name}`]);
    fill(byId("paired"), [["no", "no"], ["yes", "by their order"], ...pairs], byId("paired").value);
    chosen = new Set(candidates().map((column) => column.name));
    byId("column-filter").value = "";
    fill(byId("other-side"), seen.columns.map((column) => [column.name, column.name]), null);
    complain("test-error");
    showColumns();
  };
  const fitting = () => {
    const wanted = byId("column-filter").value.trim().toLowerCase();
    return candidates().filter((column) => column.name.toLowerCase().includes(wanted));
  };
  const showCount = () => {
    const possible = candidates().length;
    byId("column-count").textContent = `${chosen.size.toLocaleString("en")} of ${count(possible, "column")} chosen`;
  };
  const showColumns = () => {
    const fit = fitting();
    const line = (column) => {
      const item = make("li");
      const label = Object.assign(make("label"), { className: "tick" });
      const tick = Object.assign(make("input"), { type: "checkbox", checked: chosen.has(column.name) });
      tick.addEventListener("change", () => {
        if (tick.checked) chosen.add(column.name);
        else chosen.delete(column.name);
        showCount();
      });
      label.append(tick, make("span", column.name), make("small", column.kind));
      item.append(label);
      return item;
    };
    byId("column-list").replaceChildren(...fit.slice(0, SHOWN).map(line));
    byId("filter-label").hidden = candidates().length <= 12;
    byId("column-more").textContent =
      fit.length > SHOWN ? `Shown are the first ${SHOWN} of ${count(fit.length, "column")}; filter to see others.` : "";
    const by = !byId("split").hidden && byId("by").value;
    const others = seen.others.filter((column) => column.name !== by);
    const names = others.slice(0, 12).map((column) => `${column.name || "(without a name)"} (${column.kind})`);
    byId("others").textContent = others.length
      ? `Not compared: ${names.join(", ")}${others.length > 12 ? `, and ${others.length - 12} more` : ""}.`
      : "";
    showCount();
  };
  const question = () => {
    const form = byId("form");
    const value = (name) => form.elements[name].value;
    const split = !byId("split").hidden;
    const wanted = candidates().map((column) => column.name).filter((name) => chosen.has(name));
    const every = wanted.length === candidates().length && !seen.others.some((column) => column.kind.startsWith("only"));
    return {
      test: value("test"), nan_policy: value("nan_policy"), prior_odds: value("prior_odds"), model: value("model"),
      permutations: value("permutations"), fdr: value("fdr"), rope: value("rope"), sort: value("sort"), reading: reading(),
      paired: identifier() || value("paired") === "yes",
      by: (split && byId("by").value) || null, columns: every ? null : wanted,
      groups: split && byId("group-first").value ? [byId("group-first").value, byId("group-second").value] : null,
      y: [...byId("other-side").selectedOptions].map((option) => option.value), law: value("law"),
    };
  };

  // ---- a test

  const show = (part, heading) => {
    for (const id of ["asking", "running", "result"]) byId(id).hidden = id !== part;
    document.body.classList.toggle("result", part === "result");
    if (heading) byId(heading).focus({ preventScroll: part === "asking" });
    if (part !== "asking") window.scrollTo(0, 0);
  };
  const start = async () => {
    if (!chosen.size) {
      complain("test-error", "choose at least one column");
      return;
    }
    byId("compare").disabled = true;
    const begun = await attempt("test-error", async () => askJson("test", question()));
    byId("compare").disabled = false;
    if (!begun) return;
    byId("running-words").textContent = "Starting …";
    byId("percent").textContent = "";
    byId("bar").removeAttribute("value");
    show("running", "h-running");
    poll(++polling, 100);
  };
  const poll = async (number, wait) => {
    await new Promise((done) => setTimeout(done, wait));
    if (number !== polling) return;
    let job;
    const answered = await attempt("test-error", async () => { job = await (await ask("GET", "test")).json(); });
    if (number !== polling) return;
    if (!answered) show("asking", "compare");
    else if (job.state === "waiting" || job.state === "running") {
      showProgress(job);
      poll(number, Math.min(1000, wait * 1.3));
    } else if (job.state === "done") showResult(job);
    else {
      show("asking", "compare");
      if (job.message) complain("test-error", job.message);
    }
  };
  const showProgress = (job) => {
    const ahead = job.place ? `${count(job.place, "other test")} before this one` : "the next to begin";
    const words = job.state === "waiting" ? `Waiting for its turn: ${ahead}.` : `${job.words} …`;
    if (byId("running-words").textContent !== words) byId("running-words").textContent = words; // said once
    byId("percent").textContent = job.share > 0 ? `${Math.floor(100 * job.share)} %` : "";
    if (job.state === "running" && job.share > 0) byId("bar").value = job.share;
    else byId("bar").removeAttribute("value");
  };
  const showResult = (job) => {
    byId("headline").textContent = job.headline;
    const named = job.names.filter(Boolean);
    byId("who").textContent =
      named.length === 2 ? `x is “${named[0]}”, y is “${named[1]}”` : named.map((name) => `“${name}”`).join(", ");
    complain("result-error");
    const notes = byId("result-notes");
    notes.hidden = !job.notes.length;
    notes.open = false;
    notes.querySelector("summary").textContent = count(job.notes.length, "note");
    notes.querySelector("ul").replaceChildren(...job.notes.map((note) => make("li", sentence(note))));
    const frame = byId("report");
    const fresh = frame.cloneNode(); // so that the history does not get an entry for each report
    fresh.src = `sessions/${session.session}/report`;
    frame.replaceWith(fresh);
    show("result", "headline");
  };
  const save = (path, name) => attempt("result-error", async () => {
    const content = await (await ask("GET", path)).blob();
    const link = Object.assign(make("a"), { href: URL.createObjectURL(content), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });

  // ---- what people do

  for (const slot of SLOTS) {
    const box = document.querySelector(`[data-slot=${slot}]`);
    const input = box.querySelector("input");
    box.querySelector(".about").id = `about-${slot}`;
    input.multiple = true;
    input.addEventListener("change", () => {
      const files = [...input.files];
      input.value = ""; // so that the same file can be chosen again
      if (files.length) take(files, slot);
    });
    box.querySelector(".remove").addEventListener("click", async () => {
      await attempt("file-error", () => ask("DELETE", `files/${slot}`));
      await look();
      input.focus();
    });
  }
  const slotAt = (event) => event.target.closest && event.target.closest(".slot");
  const lit = (slot) => all(".slot").forEach((one) => one.classList.toggle("over", one === slot));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    lit(slotAt(event));
  });
  document.addEventListener("dragleave", () => lit(null));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    lit(null);
    if (byId("asking").hidden) return;
    const files = [...event.dataTransfer.files];
    const slot = slotAt(event);
    const free = SLOTS.find((_, i) => !seen.files[i]) || "first";
    if (files.length) take(files, slot ? slot.dataset.slot : free);
  });
  byId("example").addEventListener("click", async () => {
    if (await attempt("file-error", () => ask("POST", "example"))) await look();
  });
  byId("reading").addEventListener("change", () => { if (seen.files.some(Boolean)) look(); });
  byId("by").addEventListener("change", () => {
    showGroups();
    chosen = new Set(candidates().map((column) => column.name));
    showColumns();
  });
  byId("paired").addEventListener("change", () => {
    chosen = new Set(candidates().map((column) => column.name));
    showColumns();
  });
  byId("column-filter").addEventListener("input", showColumns);
  byId("all").addEventListener("click", () => { fitting().forEach((column) => chosen.add(column.name)); showColumns(); });
  byId("none").addEventListener("click", () => { fitting().forEach((column) => chosen.delete(column.name)); showColumns(); });
  byId("form").addEventListener("change", () => {
    byId("form").dataset.test = byId("form").elements.test.value;
    byId("group-second").disabled = !byId("group-first").value;
  });
  byId("form").addEventListener("submit", (event) => { event.preventDefault(); start(); });
  byId("cancel").addEventListener("click", async () => {
    polling++;
    await attempt("test-error", () => ask("DELETE", "test"));
    show("asking", "compare");
  });
  byId("change").addEventListener("click", () => show("asking", "compare"));
  byId("again").addEventListener("click", async () => {
    await attempt("file-error", async () => { for (const slot of SLOTS) await ask("DELETE", `files/${slot}`); });
    byId("report").removeAttribute("src");
    show("asking", "h-files");
    window.scrollTo(0, 0);
    await look();
  });
  byId("save-page").addEventListener("click", () => save("report", "twosample-report.html"));
  byId("save-json").addEventListener("click", () => save("result", "twosample-result.json"));
  window.addEventListener("pagehide", () => { if (session) navigator.sendBeacon(`sessions/${session.session}/close`); });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();
