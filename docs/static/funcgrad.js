// Tables of three or four columns that can be stacked on a phone: each cell knows the name of its column.
document.addEventListener("DOMContentLoaded", function () {
  for (const table of document.querySelectorAll(".table-wrapper table")) {
    const names = Array.from(table.querySelectorAll("thead th"), function (th) { return th.textContent; });
    if (names.length !== 3 && names.length !== 4) continue;
    table.classList.add("stacked");
    for (const row of table.querySelectorAll("tbody tr")) {
      Array.from(row.cells).forEach(function (cell, k) { cell.setAttribute("data-column", names[k] || ""); });
    }
  }
});
