// What is wider than its place scrolls: then the keyboard must reach it, too. What is folded has its width once opened.
(() => {
  const BOXES = "mjx-container[display], pre, .output, .cell_output, .pst-scrollable-table-container";
  const reach = (root) => {
    for (const box of root.querySelectorAll(BOXES)) if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  };
  window.addEventListener("load", async () => {
    if (window.MathJax?.startup) await window.MathJax.startup.promise;
    reach(document);
  });
  window.addEventListener("resize", () => reach(document));
  document.addEventListener("toggle", (event) => reach(event.target), true);
})();
