// What is folded opens for a link to a place inside it, and for print.
document.addEventListener("DOMContentLoaded", () => {
  const folds = () => [...document.querySelectorAll("details")];
  const reveal = () => {  // browsers open what holds the place; not all do, and none what belongs to it
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (!target) return;
    const own = target.matches("tr") ? target.querySelector("details") : null;
    const entry = target.matches("dt") ? target.nextElementSibling?.querySelector(":scope > details") : null;
    const shut = [own, entry, ...folds().filter((fold) => fold.contains(target))].filter((fold) => fold && !fold.open);
    const hidden = [...document.querySelectorAll(".toggle-hidden")].filter((box) => box.contains(target));
    for (const fold of shut) fold.open = true;
    for (const box of hidden) box.querySelector("button.toggle-button")?.click();
    if (shut.length + hidden.length) target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {  // a second click on a link changes no hash
    if (event.target.closest?.('a[href^="#"]')) setTimeout(reveal);
  });
  window.addEventListener("load", reveal);
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = folds().filter((fold) => !fold.open);
    for (const fold of closed) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
  });
  reveal();
});
