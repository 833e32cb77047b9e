/** Texts that have broken other servers, by the kind of attack. */
export const SQL_TEXTS: readonly string[] = [
  "'; drop table user_account; --",
  "' or '1'='1",
  '" or ""="',
  "1); delete from orders; --",
  "\\'; truncate app; --",
  "x') union select app_key_sealed from app --",
  "$1",
  "%27%20or%201=1--",
  "$$; drop table event; $$",
  "/**/or/**/1=1",
  "'||pg_sleep(9)||'",
  "a\\",
  "{a,b}",
  '{"a"}',
  "null",
  "\\N",
  "\\.",
  "a\tb",
];

export const FORMULA_TEXTS: readonly string[] = [
  "=1+1",
  "+1+1",
  "-1+1",
  "@SUM(A1)",
  "\t=1+1",
  "\r=1+1",
  '=HYPERLINK("http://evil.example","x")',
  "=cmd|' /C calc'!A0",
];

export const CONTROL_TEXTS: readonly string[] = [
  "\r\nset-cookie: a=b",
  "a\r\n\r\nHTTP/1.1 200 OK",
  '\n{"level":"fatal","msg":"forged"}',
  "\u001b[2J\u001b[31m",
  "\u0000",
  "\u0008\u007f\u009b",
  "\u2028\u2029",
  "\ud800",
  "\udc00\ud800",
  "\ufeff",
];

export const NAME_TEXTS: readonly string[] = [
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "length", "then", "sign"],
  ...["../../etc/passwd", "..%2f..%2fetc", "${7*7}", "{{7*7}}", "%s%n%x", "<script>alert(1)</script>", "file:///x"],
];

export const NASTY_TEXTS: readonly string[] = [...SQL_TEXTS, ...FORMULA_TEXTS, ...CONTROL_TEXTS, ...NAME_TEXTS];

export const NASTY_NUMBERS: readonly number[] = [
  ...[0, -0, -1, 1.5, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, -(2 ** 53), 2 ** 63, 1e21, 1e308, -1e308, 5e-324, 0.1 + 0.2],
  ...[10_000_000_000_000, 253_402_300_800_000, 8.64e15, 8.64e15 + 1],
];
