// A chart's data as a file: the numbers exactly as they stand in the page's JSON (RFC 4180).

function csvText(rows) {
  const field = (x) => {
    if (x === null || x === undefined) return "";
    const text = String(x);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

function fileName(...words) {
  const slug = words
    .filter(Boolean)
    .join(" ")
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, "-");
  return `${slug.replace(/^-+|-+$/g, "") || "data"}.csv`;
}

function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = h("a", { href: address, download: name, class: "hidden" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function csvButton(title, name, rows, text = "CSV") {
  return h(
    "button.quiet",
    {
      type: "button",
      "data-csv": name,
      "aria-label": `${title}: data as CSV`,
      onclick: () => download(name, csvText(rows())),
    },
    text,
  );
}
