// Elements from code. Text always goes in as text, so nothing in the results can become markup.

// h("p.soft", {id: "x", onclick: f}, "text", child, [more]): nulls among the children are skipped.
function h(name, ...rest) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  let children = rest;
  if (isAttributes(rest[0])) {
    setAttributes(element, rest[0]);
    children = rest.slice(1);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

function isAttributes(x) {
  return x !== null && typeof x === "object" && !Array.isArray(x) && !(x instanceof Node);
}

function setAttributes(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
}

function section(id, title, lead, ...children) {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    lead && h("p.lead", lead),
    children,
  );
}

// Buttons of which one is pressed.
function choice(label, options, chosen, onChoose) {
  const buttons = options.map(([value, text]) =>
    h(
      "button",
      {
        type: "button",
        "aria-pressed": String(value === chosen),
        onclick: () => choose(value),
      },
      text,
    ),
  );
  function choose(value) {
    options.forEach(([v], i) => buttons[i].setAttribute("aria-pressed", String(v === value)));
    onChoose(value);
  }
  return h("fieldset.choice", h("legend.unseen", label), buttons);
}

function dropDown(label, options, chosen, onChoose) {
  const select = h(
    "select",
    { onchange: () => onChoose(select.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
  return h("label", label, select);
}

function pairs(className, entries) {
  return h(
    `dl.${className}`,
    entries.map(([term, value, attributes]) =>
      h("div", h("dt", term), h("dd", attributes || {}, value)),
    ),
  );
}

// columns: [heading, value of a row, {number: true}]; a value may be an element.
function plainTable(columns, rows, caption) {
  const cell = (tag, c, content) =>
    h(c[2] && c[2].number ? `${tag}.number` : tag, tag === "th" ? { scope: "col" } : {}, content);
  return h(
    "div.table",
    { tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      h("caption.unseen", caption),
      h(
        "thead",
        h(
          "tr",
          columns.map((c) => cell("th", c, c[0])),
        ),
      ),
      h(
        "tbody",
        rows.map((row) =>
          h(
            "tr",
            columns.map((c) => cell("td", c, c[1](row))),
          ),
        ),
      ),
    ),
  );
}

// A list from the JSON, whatever stands there.
function list(x) {
  return Array.isArray(x) ? x : [];
}
