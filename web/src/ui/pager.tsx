import { useFormat } from "../format.ts";
import { useTexts } from "../texts.ts";
import { Button } from "./button.tsx";
import { texts } from "./texts.ts";

type PagerProps = { page: number; pageSize: number; rows: number; onPage: (page: number) => void };

/** Pages count from 1, as in the interface. */
export function Pager({ page, pageSize, rows, onPage }: PagerProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const pages = Math.max(1, Math.ceil(rows / pageSize));
  return (
    <nav className="row apart" aria-label={text.pages}>
      <span className="soft small">{text.pageOf(number(page), number(pages), number(rows))}</span>
      <span className="row">
        <Button size="small" disabled={page <= 1} onClick={() => onPage(page - 1)}>
          {text.previous}
        </Button>
        <Button size="small" disabled={page >= pages} onClick={() => onPage(page + 1)}>
          {text.next}
        </Button>
      </span>
    </nav>
  );
}
