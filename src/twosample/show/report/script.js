"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const expit = (t) => (t >= 0 ? 1 / (1 + Math.exp(-t)) : Math.exp(t) / (1 + Math.exp(t)));
  const short = (value, digits) => String(Number(value.toPrecision(digits)));
  const probability = (p) => (p < 0.0001 ? "< 0.0001" : p > 0.9999 ? "> 0.9999" : p.toFixed(4));
  const evidence = (value) => (value < -0.005 ? "" : "+") + (Math.abs(value) < 0.005 ? 0 : value).toFixed(2);

  const odds = byId("odds");
  if (odds) {
    const logBf10 = Number(odds.dataset.logBf10);
    const range = byId("odds-range");
    const words = (value) => (value >= 1 ? short(value, 3) + " : 1" : "1 : " + short(1 / value, 3));
    const show = () => {
      const prior = Math.pow(10, Number(range.value));
      const p = expit(logBf10 + Math.log(prior));
      byId("odds-value").textContent = words(prior);
      byId("odds-prob").textContent = probability(p);
      byId("odds-meter").style.width = (100 * p).toFixed(2) + "%";
      range.setAttribute("aria-valuetext", "prior odds " + words(prior));
    };
    range.disabled = false;
    range.addEventListener("input", show);
    show();
  }

  const holder = byId("twosample-columns");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const groups = new Set(data.groups || []);
  const prob = data.log_bf10.map((value, i) => {
    const share = groups.has(i) ? data.group_share : data.share;
    return expit(value + Math.log(share / (1 - share)));
  });
  // The mean of P(same) over a column and all of its kind with as much evidence.
  const q = new Array(prob.length);
  for (const ofGroups of [false, true]) {
    const places = prob.map((_, i) => i).filter((i) => groups.has(i) === ofGroups);
    let sum = 0;
    for (let start = 0; start < places.length; ) {
      let end = start;
      while (end < places.length && data.log_bf10[places[end]] === data.log_bf10[places[start]]) sum += 1 - prob[places[end++]];
      for (let i = start; i < end; i++) q[places[i]] = sum / end;
      start = end;
    }
  }

  const fdr = byId("fdr");
  if (fdr) {
    const range = byId("fdr-range");
    const show = () => {
      const limit = Number(short(Math.pow(10, Number(range.value)), 2));
      byId("fdr-value").textContent = String(limit);
      byId("fdr-found").textContent = q.filter((value) => value <= limit).length.toLocaleString("en");
      range.setAttribute("aria-valuetext", "false discovery rate " + limit);
    };
    range.disabled = false;
    range.value = Math.log10(Number(fdr.dataset.fdr));
    range.addEventListener("input", show);
  }

  const box = byId("all-box");
  if (!box) return;
  byId("all-columns").hidden = false;
  const body = byId("all-table").tBodies[0];
  const withQ = byId("all-table").tHead.rows[0].cells.length === 6;
  const names = data.name.map((name) => name.toLowerCase());
  let chosen = names.map((_, i) => i);
  const space = (height, width) => {
    const row = document.createElement("tr");
    row.className = "space";
    const cell = row.insertCell();
    cell.colSpan = width;
    cell.style.height = height + "px";
    return row;
  };
  const line = (i) => {
    const row = document.createElement("tr");
    const cells = [data.name[i], probability(prob[i])];
    if (withQ) cells.push(probability(q[i]));
    cells.push(evidence(data.log_bf10[i]), data.auc[i] === null ? "–" : data.auc[i].toFixed(3));
    cells.push(data.log_bf10[i] > 0 && data.ways[data.way[i]] ? data.ways[data.way[i]] : "–");
    for (const text of cells) row.insertCell().textContent = text;
    row.cells[0].title = data.name[i];
    return row;
  };
  let height = 33;
  const draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 10);
    const some = chosen.slice(first, first + 20 + Math.ceil(box.clientHeight / height));
    const below = chosen.length - first - some.length;
    const width = withQ ? 6 : 5;
    body.replaceChildren(space(first * height, width), ...some.map(line), space(below * height, width));
    if (some.length) height = body.rows[1].getBoundingClientRect().height || height;
  };
  box.addEventListener("scroll", draw, { passive: true });
  byId("filter").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    chosen = names.map((_, i) => i).filter((i) => names[i].includes(wanted));
    byId("filter-count").textContent = chosen.length.toLocaleString("en") + " of " + names.length.toLocaleString("en");
    box.scrollTop = 0;
    draw();
  });
  draw();
})();
