// Colors of code: ranges over the text of blocks that come into view. Nothing here changes the page.
const MAX_CODE_CHARS = 200000;
const KEYWORDS =
  "abstract|and|as|assert|async|await|break|case|catch|class|const|constexpr|continue|def|default|defer|del|" +
  "delete|do|elif|else|elsif|end|enum|except|export|extends|extern|false|False|final|finally|fn|" +
  "for|foreach|from|func|function|go|goto|if|impl|implements|import|in|include|instanceof|interface|is|lambda|let|" +
  "match|module|mut|namespace|new|nil|None|not|null|of|or|override|package|pass|private|protected|pub|" +
  "public|raise|readonly|require|return|self|sizeof|static|struct|super|switch|template|then|this|" +
  "throw|throws|trait|true|True|try|type|typeof|union|unless|unsafe|until|use|using|var|virtual|void|where|while|with|yield";
const SHELL_WORDS = "break|case|continue|do|done|elif|else|esac|exit|export|fi|for|function|if|in|local|return|select|set|source|then|unset|until|while";
const SQL_WORDS =
  "add|all|alter|and|as|asc|begin|between|by|case|commit|create|cross|delete|desc|distinct|drop|else|end|exists|from|full|" +
  "group|having|if|in|index|inner|insert|into|is|join|key|left|like|limit|not|null|offset|on|or|order|outer|primary|" +
  "references|right|select|set|table|then|union|unique|update|using|values|view|when|where|with";
const SHELL = /^(sh|bash|zsh|shell|console|fish)$/;
const SQL = /^(sql|sqlite|postgres|postgresql|mysql)$/;
const HASH = /^(py|python|sh|bash|zsh|shell|console|fish|rb|ruby|ya?ml|toml|ini|r|pl|perl|make|makefile|dockerfile|conf|cfg|tf|nix|elixir|ex|exs|jl|julia|ps1|powershell|graphql)$/;
const DASHES = /^(sql|sqlite|postgres|postgresql|mysql|lua|hs|haskell|ada|elm)$/;
const PLAIN = /^(text|txt|plain|plaintext|md|markdown|log|output|csv|diff|patch|$)/;
const grammars = new Map();
function grammar(language) {
  if (PLAIN.test(language)) return null;
  const comment = HASH.test(language) ? "(?<=^|\\s)#.*" : DASHES.test(language) ? "--.*" : "//.*|/\\*[^]*?\\*/|<!--[^]*?-->";
  const words = SHELL.test(language) ? SHELL_WORDS : SQL.test(language) ? SQL_WORDS : KEYWORDS;
  return new RegExp(
    `(?<comment>${comment})` +
    "|(?<string>\"\"\"[^]*?\"\"\"|'''[^]*?'''|\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`)" +
    "|(?<number>\\b(?:0x[\\da-f_]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)\\b)" +
    `|(?<word>\\b(?:${words})\\b)` +
    "|(?<called>[A-Za-z_]\\w*(?=\\())", SQL.test(language) ? "gim" : "gm");
}
function highlight(block) {
  const language = (block.dataset.lang || "").split(/\s/)[0].toLowerCase();
  if (!grammars.has(language)) grammars.set(language, grammar(language));
  const pattern = grammars.get(language);
  if (!pattern || block.textContent.length > MAX_CODE_CHARS) return;
  const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    for (const match of node.data.matchAll(pattern)) {
      const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
      const range = new StaticRange({ startContainer: node, startOffset: match.index, endContainer: node, endOffset: match.index + match[0].length });
      highlights[kind].add(range);
    }
  }
}
const highlights = {};
const codeInView = window.Highlight && CSS.highlights && new IntersectionObserver((entries) => {
  for (const entry of entries)
    if (entry.isIntersecting) {
      codeInView.unobserve(entry.target);
      highlight(entry.target);
    }
}, { rootMargin: "200px" });
if (codeInView)
  for (const kind of ["comment", "string", "number", "word", "called"])
    CSS.highlights.set(kind, (highlights[kind] = new Highlight()));

// Color a block of code when it comes into view.
export function watchCode(block) {
  if (codeInView) codeInView.observe(block);
}

// Forget the blocks that were colored, because they are no longer on the page.
export function forgetCode() {
  for (const kind of Object.values(highlights)) kind.clear();
}
