import type { ReactNode } from "react";
import type { Need } from "../../../src/contract/setting/session.ts";
import { useMay } from "../may.ts";
import { useTexts } from "../texts.ts";
import { Button } from "./button.tsx";
import type { Column } from "./data-table.tsx";

const texts = {
  en: { actions: "Actions", edit: "Edit", remove: "Remove" },
  zh: { actions: "操作", edit: "编辑", remove: "删除" },
};

type Actions<Row> = {
  /** What the person's role must allow; by default to change settings. */
  needs?: Need;
  onEdit: (row: Row) => void;
  onRemove: (row: Row) => void;
  /** Other buttons, between the two. */
  more?: (row: Row) => ReactNode;
};

/** The last column of a list of settings, for those who may change them; no column for the others. */
export function useActionColumn<Row>({ needs = "setting", onEdit, onRemove, more }: Actions<Row>): Column<Row>[] {
  const text = useTexts(texts);
  if (!useMay(needs)) return [];
  return [
    {
      name: "actions",
      title: text.actions,
      cell: (row) => (
        <span className="row nowrap">
          <Button size="small" onClick={() => onEdit(row)}>
            {text.edit}
          </Button>
          {more?.(row)}
          <Button size="small" look="danger" onClick={() => onRemove(row)}>
            {text.remove}
          </Button>
        </span>
      ),
    },
  ];
}
