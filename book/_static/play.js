// Draw the pictures to play with. Without this file, and in print, one sees their stills.
document.addEventListener("DOMContentLoaded", () => {
  const draw = async (place, script, still) => {
    const made = await vegaEmbed(place, JSON.parse(script.textContent), { actions: false, renderer: "svg" });
    place.view = made.view;
    still.classList.add("still");
    const drawn = place.querySelector("svg");
    drawn.setAttribute("role", "img");  // one picture with one text, as the still is
    for (const part of drawn.children) part.setAttribute("aria-hidden", "true");
    drawn.setAttribute("aria-label", still.alt);
  };
  for (const script of document.querySelectorAll('script[type="application/vnd.vegalite.v5+json"]')) {
    const place = document.createElement("div");
    place.className = "play";
    script.before(place);
    // What is folded has no width yet, and a picture takes that of its place.
    new ResizeObserver((_, observer) => {
      if (!place.clientWidth) return;
      observer.disconnect();
      draw(place, script, script.parentElement.querySelector("img"));
    }).observe(place);
  }
});
