// Draw the pictures to play with. Without this file, and in print, one sees their stills.
document.addEventListener("DOMContentLoaded", () => {
  for (const script of document.querySelectorAll('script[type="application/vnd.vegalite.v5+json"]')) {
    const still = script.parentElement.querySelector("img");
    const place = document.createElement("div");
    place.className = "play";
    script.before(place);
    vegaEmbed(place, JSON.parse(script.textContent), { actions: false, renderer: "svg" }).then((made) => {
      place.view = made.view;
      still.classList.add("still");
      const drawn = place.querySelector("svg");
      drawn.setAttribute("role", "img");  // one picture with one text, as the still is
      for (const part of drawn.children) part.setAttribute("aria-hidden", "true");
      drawn.setAttribute("aria-label", still.alt);
    });
  }
});
