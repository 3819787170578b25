// What is wider than its place scrolls: then the keyboard must reach it, too.
window.addEventListener("load", async () => {
  if (window.MathJax?.startup) await window.MathJax.startup.promise;
  for (const box of document.querySelectorAll("mjx-container[display], pre, .cell_output, .pst-scrollable-table-container")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
});
