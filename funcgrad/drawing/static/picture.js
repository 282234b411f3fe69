// Makes the pictures of draw() live: folded groups open, values are told on hover, the backward sweep is stepped through.
// Each picture is a <div> with one <svg> for each choice of opened groups, and its facts as JSON. Nothing is fetched.
(function () {
  "use strict";

  // ---- which state to show -----------------------------------------------------------------------------------------
  // A state is the set of keys that are opened, written "0. 1.". A key that begins with another one lies within it.
  function keysOf(state) { return state.split(" ").filter(Boolean); }

  function without(keys, key) { return keys.filter(function (k) { return !k.startsWith(key); }); }

  // The state that is nearest to the wish, of those in which `key` is opened (or is not).
  function nearest(states, wish, key, opened) {
    let best = null, least = Infinity;
    for (const state of states) {
      const keys = keysOf(state);
      if (keys.includes(key) !== opened) continue;
      const apart = keys.filter(function (k) { return !wish.includes(k); }).length
        + wish.filter(function (k) { return !keys.includes(k); }).length;
      if (apart < least) { best = state; least = apart; }
    }
    return best;
  }

  // What a click on a group leads to; null: nothing.
  function toggled(states, current, key) {
    const keys = keysOf(current);
    return keys.includes(key)
      ? nearest(states, without(keys, key), key, false)
      : nearest(states, keys.concat([key]), key, true);
  }

  // ---- what is told --------------------------------------------------------------------------------------------------
  // A fact is [name, kind, shape and dtype, value, line]. Of many that are shown as one, the first two and the last.
  function tell(facts, members, cts) {
    const known = members.filter(function (k) { return facts[k]; });
    if (!known.length) return "";
    const first = facts[known[0]];
    const lines = [first[0] + "  (" + first[1] + ")"];
    if (first[2]) lines.push(first[2]);
    const shown = known.length > 4 ? [known[0], known[1], -1, known[known.length - 1]] : known;
    for (const k of shown) {
      const round = known.length > 1 ? "round " + (known.indexOf(k) + 1) + ": " : "";
      if (k === -1) { lines.push("…"); continue; }
      if (facts[k][3]) lines.push(round + "value " + facts[k][3]);
      if (cts && cts[k]) lines.push(round + "ct " + cts[k]);
    }
    if (first[4]) lines.push(first[4]);
    return lines.join("\n");
  }

  function stepText(data, at) {
    const step = data.steps[at], fact = data.facts[step[0]];
    if (data.back) return fact[0] + (step[1] ? "  →  " + step[1] : "") + "\n" + fact[4];
    if (fact[1] === "input") return "ct of " + fact[0] + " = " + step[1];
    return "pull through " + fact[0] + ":  ct of its output = " + step[1] + "\n" + fact[4];
  }

  // ---- the page --------------------------------------------------------------------------------------------------------
  function numbers(text) { return text ? text.split(" ").map(Number) : []; }

  function start(root) {
    root.setAttribute("data-ready", "");
    const data = JSON.parse(root.querySelector("script.fg-data").textContent);
    const states = new Map();
    for (const box of root.querySelectorAll(".fg-state")) states.set(box.getAttribute("data-open"), box);
    let current = "", at = -1;
    const told = make(root, "div", "fg-told"), tip = make(root, "div", "fg-tip");
    told.setAttribute("aria-live", "polite");
    tip.hidden = true;
    const bar = data.steps.length ? stepper() : null;

    function cts() {
      const found = {};
      for (let k = 0; k <= at; k++) found[data.steps[k][0]] = data.steps[k][1];
      return data.back ? null : found;
    }

    function show(state) {
      current = state;
      for (const [name, box] of states) box.hidden = name !== state;
      mark();
    }

    function mark() {
      const box = states.get(current), done = cts() || {};
      box.classList.toggle("fg-stepping", at >= 0);
      const seen = new Set(data.steps.slice(0, at + 1).map(function (step) { return step[0]; }));
      const now = at >= 0 ? data.steps[at][0] : -1;
      const vertices = Array.from(box.querySelectorAll("g.vertex"));
      const active = new Set();
      vertices.forEach(function (vertex, k) {
        const members = numbers(vertex.getAttribute("data-members"));
        vertex.classList.toggle("fg-now", members.includes(now));
        vertex.classList.toggle("fg-done", members.some(function (m) { return seen.has(m); }));
        if (members.includes(now)) active.add(k);
      });
      for (const edge of box.querySelectorAll("g.edge")) {
        edge.classList.toggle("fg-now", active.has(Number(edge.getAttribute("data-to"))));
      }
      for (const vertex of box.querySelectorAll("g.vertex.fg-now")) {
        if (root.contains(document.activeElement)) vertex.scrollIntoView({ block: "nearest", inline: "nearest" });
      }
      const many = vertices.map(function (v) { return numbers(v.getAttribute("data-members")); })
        .find(function (m) { return m.length > 1 && m.includes(now); });
      const round = many ? "  (round " + (many.indexOf(now) + 1) + " of " + many.length + ")" : "";
      told.textContent = at >= 0 ? stepText(data, at) + round
        : data.note || "Hover for values; click a box with a count (20 ×) to open it, and the head of a round to close it.";
      if (bar) bar();
    }

    function stepper() {
      const box = make(root, "div", "fg-bar", root.firstElementChild);
      const label = make(box, "span", "");
      label.textContent = data.back ? "The sweep:" : "Backward sweep:";
      const button = function (text, name, move) {
        const made = make(box, "button", "");
        made.type = "button";
        made.textContent = text;
        made.title = name;
        made.setAttribute("aria-label", name);
        made.addEventListener("click", function () { go(move()); });
        return made;
      };
      const first = button("|◀", "leave the sweep", function () { return -1; });
      const back = button("◀", "one step back", function () { return at - 1; });
      const next = button("▶", "next step", function () { return at + 1; });
      const last = button("▶|", "last step", function () { return data.steps.length - 1; });
      const count = make(box, "span", "fg-count");
      box.addEventListener("keydown", function (event) {
        if (event.key === "ArrowRight") go(at + 1);
        if (event.key === "ArrowLeft") go(at - 1);
      });
      return function () {
        first.disabled = back.disabled = at < 0;
        next.disabled = last.disabled = at >= data.steps.length - 1;
        count.textContent = at < 0 ? data.steps.length + " steps" : "step " + (at + 1) + " of " + data.steps.length;
      };
    }

    function go(step) {
      at = Math.max(-1, Math.min(data.steps.length - 1, step));
      mark();
    }

    function open(event) {
      if (event.target.closest("g.vertex")) return;
      const group = event.target.closest("g[data-key]");
      const state = group && toggled(Array.from(states.keys()), current, group.getAttribute("data-key"));
      if (state === null || state === undefined) return;
      event.preventDefault();
      tip.hidden = true;
      show(state);
    }

    function hover(event) {
      const vertex = event.target.closest && event.target.closest("g.vertex");
      const edge = !vertex && event.target.closest && event.target.closest("g.edge, g.carried");
      const members = vertex ? numbers(vertex.getAttribute("data-members")) : [];
      const text = vertex ? tell(data.facts, members, cts()) || vertex.getAttribute("data-told")
        : edge ? edge.getAttribute("data-told") : "";
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const width = tip.offsetWidth, height = tip.offsetHeight;
      tip.style.left = Math.max(4, Math.min(event.clientX + 14, window.innerWidth - width - 8)) + "px";
      tip.style.top = (event.clientY + 18 + height > window.innerHeight ? event.clientY - height - 10 : event.clientY + 18) + "px";
    }

    const stage = root.querySelector(".fg-stage");
    for (const title of stage.querySelectorAll("title")) {
      title.parentNode.setAttribute("data-told", title.textContent);
      title.remove();  // the browser would show it beside ours
    }
    for (const group of stage.querySelectorAll("g[data-key]")) {
      group.setAttribute("tabindex", "0");
      group.setAttribute("role", "button");
    }
    stage.addEventListener("click", function (event) { open(event); hover(event); });
    stage.addEventListener("keydown", function (event) { if (event.key === "Enter" || event.key === " ") open(event); });
    stage.addEventListener("mousemove", hover);
    stage.addEventListener("mouseleave", function () { tip.hidden = true; });
    show("");
  }

  function make(parent, tag, name, before) {
    const made = document.createElement(tag);
    made.className = name;
    parent.insertBefore(made, before || null);
    return made;
  }

  if (typeof module !== "undefined") module.exports = { toggled: toggled, tell: tell, stepText: stepText };
  else document.querySelectorAll(".funcgrad-picture:not([data-ready])").forEach(start);
})();
