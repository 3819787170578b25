// Filter and search in the table of all claims. Without this file it is a plain table.
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector('table[data-filter="claims"]');
  if (!table) return;
  const rows = [...table.tBodies[0].rows];
  const form = document.createElement("form");
  form.className = "claims-filter";
  form.setAttribute("role", "search");
  form.addEventListener("submit", (event) => event.preventDefault());
  const labelled = (text, control) => {
    const label = document.createElement("label");
    label.append(text, control);
    form.append(label);
    return control;
  };
  const selects = ["source", "verdict", "kind"].map((name) => {
    const select = labelled(name, document.createElement("select"));
    select.name = name;
    const values = [...new Set(rows.map((row) => row.dataset[name]))];
    for (const value of ["", ...values]) select.add(new Option(value || "all", value));
    return select;
  });
  const search = labelled("search", document.createElement("input"));
  search.type = "search";
  search.name = "words";
  const count = document.createElement("output");
  count.setAttribute("aria-live", "polite");
  form.append(count);
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, k) => {
      const fits = selects.every((s) => !s.value || row.dataset[s.name] === s.value);
      row.hidden = !(fits && words.every((word) => texts[k].includes(word)));
      shown += !row.hidden;
    });
    count.value = `${shown} of ${rows.length} claims`;
  };
  form.addEventListener("input", show);
  const jump = () => {  // a link to a claim must find it
    const row = rows.find((candidate) => `#${candidate.id}` === window.location.hash);
    if (!row) return;
    if (row.hidden) form.reset();
    show();
    row.scrollIntoView();
  };
  window.addEventListener("hashchange", jump);
  table.before(form);
  show();
  jump();
});
