import { useState } from "react";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { Pager } from "../../ui/pager.tsx";
import { PAGE_SIZES } from "./list-state.ts";
import { texts } from "./texts.ts";

type ListPagesProps = {
  page: number;
  pageSize: number;
  rows: number;
  onPage: (page: number) => void;
  onPageSize: (pageSize: number) => void;
};

/** Paging with a field to jump to any page: lists can have thousands of pages. */
export function ListPages({ page, pageSize, rows, onPage, onPageSize }: ListPagesProps) {
  const text = useTexts(texts);
  const [wanted, setWanted] = useState("");
  const pages = Math.max(1, Math.ceil(rows / pageSize));
  return (
    <div className="list-pages">
      <div className="grow">
        <Pager page={page} pageSize={pageSize} rows={rows} onPage={onPage} />
      </div>
      <form
        className="row fields"
        onSubmit={(event) => {
          event.preventDefault();
          const number = Number(wanted);
          if (Number.isInteger(number) && number >= 1) onPage(Math.min(number, pages));
          setWanted("");
        }}
      >
        <TextField
          label={text.goTo}
          type="number"
          min={1}
          max={pages}
          value={wanted}
          placeholder={String(page)}
          onChange={setWanted}
        />
        <Button type="submit">{text.go}</Button>
        <SelectField
          label={text.pageSize}
          value={String(pageSize)}
          choices={[...new Set([...PAGE_SIZES, pageSize])].map((size) => ({
            value: String(size),
            label: String(size),
          }))}
          onChange={(size) => onPageSize(Number(size))}
        />
      </form>
    </div>
  );
}
