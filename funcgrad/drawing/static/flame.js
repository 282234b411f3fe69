// Makes the flame views of trace() live: choose what is measured, click on a cell to enlarge it, hover to read it.
(function () {
  "use strict";

  // Where a cell from x, w wide (in percent of the whole), stands once the cell `to` fills the width; null: beside it.
  function zoomed(x, w, to) {
    const left = (x - to.x) / to.w * 100, width = w / to.w * 100;
    if (left > 100 - 1e-9 || 1e-9 > left + width) return null;
    const begin = Math.max(0, left);
    return { x: begin, w: Math.min(100, left + width) - begin };
  }

  function start(root) {
    root.setAttribute("data-ready", "");
    const views = Array.from(root.querySelectorAll("svg[data-measure]"));
    const bar = document.createElement("div"), told = document.createElement("div");
    bar.className = "fg-bar";
    told.className = "fg-told";
    told.setAttribute("aria-live", "polite");
    root.insertBefore(bar, views[0]);
    root.append(told);
    const buttons = views.map(function (view) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = view.getAttribute("data-measure");
      button.addEventListener("click", function () { choose(view); });
      bar.append(button);
      return button;
    });

    function choose(chosen) {
      views.forEach(function (view, k) {
        view.style.display = view === chosen ? "" : "none";
        buttons[k].setAttribute("aria-pressed", String(view === chosen));
        zoom(view, { x: 0, w: 100 });
      });
      told.textContent = "Click on a cell to enlarge it, on the top one to see all.";
    }

    function spot(cell) {
      return { x: Number(cell.getAttribute("data-x")), w: Number(cell.getAttribute("data-w")) };
    }

    function zoom(view, to) {
      for (const cell of view.children) {
        const own = spot(cell), at = zoomed(own.x, own.w, to);
        cell.style.display = at ? "" : "none";
        if (!at) continue;
        cell.setAttribute("x", at.x + "%");
        cell.setAttribute("width", at.w + "%");
      }
    }

    for (const view of views) {
      for (const cell of view.children) {
        const title = cell.querySelector("title");
        const text = title.textContent;
        cell.setAttribute("tabindex", "0");
        cell.addEventListener("mouseenter", function () { told.textContent = text; });
        cell.addEventListener("focus", function () { told.textContent = text; });
        cell.addEventListener("click", function () { zoom(view, spot(cell)); told.textContent = text; });
        cell.addEventListener("keydown", function (event) { if (event.key === "Enter") zoom(view, spot(cell)); });
      }
    }
    choose(views[0]);
  }

  if (typeof module !== "undefined") module.exports = { zoomed: zoomed };
  else document.querySelectorAll(".funcgrad-flame:not([data-ready])").forEach(start);
})();
