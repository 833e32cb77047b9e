import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { ListFields, ListName } from "../../../../src/contract/admin/admin-list.ts";
import type { RefundedOrderList, UserList } from "../../../../src/contract/report/list-record.ts";
import { get, post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable, type Sort } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Progress } from "../../ui/progress.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { type ListRecord, tableColumn } from "./cells.tsx";
import { Chips } from "./chips.tsx";
import { columnTexts } from "./column-texts.ts";
import { ColumnsDialog } from "./columns-dialog.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { FilterDialog } from "./filter-dialog.tsx";
import { labelOf } from "./filter-field.tsx";
import { ListPages } from "./list-pages.tsx";
import { countOf, filterBody, fittingFilters, type ListColumn, type ListState, useListState } from "./list-state.ts";
import { useShownColumns } from "./shown-columns.ts";
import { texts } from "./texts.ts";
import { userAddress } from "./user-address.ts";
import { useValueNames } from "./value-names.ts";
import "./lists.css";

type Answers = { orders: RefundedOrderList; users: UserList };

type ListPageProps<List extends ListName> = {
  list: List;
  title: string;
  about: string;
  usualSort: Sort;
  keyOf: (record: Answers[List]["list"][number]) => string;
  /** Totals over all rows that match the filters, shown above the table. */
  totals: (answer: Answers[List]) => ReactNode;
  /** Shown instead of the table when the list is empty without any filter. */
  empty: ReactNode;
  children?: ReactNode;
};

/** A list with filters, sorting, columns, paging and export. */
export function ListPage<List extends ListName>(props: ListPageProps<List>) {
  const { app_id } = useApp();
  const fields = useQuery({
    queryKey: ["list-fields", props.list, app_id],
    queryFn: () => get<ListFields>("report/fields", { app_id, list: props.list }),
    staleTime: 60_000,
  });
  return <QueryView query={fields}>{(known) => <LoadedList {...props} fields={known} />}</QueryView>;
}

function LoadedList<List extends ListName>(props: ListPageProps<List> & { fields: ListFields }) {
  const { list, fields, usualSort, empty } = props;
  const { app_id } = useApp();
  const [given, change] = useListState(usualSort);
  const state = { ...given, filters: fittingFilters(given.filters, fields) };
  const [shown, choose] = useShownColumns(list, fields.columns);
  const body = bodyOf(app_id, state);
  const query = useQuery({
    queryKey: [list, body],
    queryFn: ({ signal }) => post<Answers[List]>(`report/${list}`, body, signal),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageHead title={props.title} about={props.about}>
        <Tools
          list={list}
          fields={fields}
          state={state}
          change={change}
          shown={shown}
          choose={choose}
          rows={query.data?.page_info.total_number}
        />
      </PageHead>
      {props.children}
      <Chips fields={fields} filters={state.filters} onChange={(filters) => change({ filters })} />
      <QueryView query={query}>
        {(answer) =>
          answer.page_info.total_number === 0 && countOf(state.filters) === 0 ? (
            <div className="card">{empty}</div>
          ) : (
            <>
              {props.totals(answer)}
              {query.isPlaceholderData && <Progress />}
              <ListTable {...props} answer={answer} state={state} change={change} shown={shown} />
            </>
          )
        }
      </QueryView>
    </>
  );
}

function bodyOf(appId: number, { filters, sort, page, pageSize }: ListState) {
  const order_by_list = [{ field: sort.column, sort: sort.direction === "asc" ? 0 : 1 }];
  return { app_id: appId, ...filterBody(filters), order_by_list, page, page_size: pageSize };
}

type Changing = { state: ListState; change: (changes: Partial<ListState>) => void; shown: readonly ListColumn[] };

type ListTableProps<List extends ListName> = ListPageProps<List> & Changing & { answer: Answers[List] };

function ListTable<List extends ListName>({ keyOf, title, answer, state, change, shown }: ListTableProps<List>) {
  const text = useTexts(texts);
  const names = useTexts(columnTexts);
  const format = useFormat();
  const { app_id } = useApp();
  const words = {
    text,
    format,
    titleOf: (name: string) => labelOf(names, name),
    userAddress: (id: string) => userAddress(app_id, id),
    names: useValueNames(),
  };
  return (
    <>
      <DataTable<ListRecord>
        label={title}
        columns={shown.map((column) => tableColumn(column, words))}
        rows={answer.list}
        keyOf={(record) => keyOf(record as Answers[List]["list"][number])}
        sort={state.sort}
        onSort={(sort) => change({ sort })}
        empty={
          <Empty title={text.notFound}>
            <p>{text.notFoundHelp}</p>
          </Empty>
        }
      />
      <ListPages
        page={state.page}
        pageSize={state.pageSize}
        rows={answer.page_info.total_number}
        onPage={(page) => change({ page })}
        onPageSize={(pageSize) => change({ pageSize })}
      />
    </>
  );
}

type ToolsProps = Changing & {
  list: ListName;
  fields: ListFields;
  choose: (names: readonly string[]) => void;
  /** Undefined until the list has answered. */
  rows: number | undefined;
};

function Tools({ list, fields, state, change, shown, choose, rows }: ToolsProps) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [open, setOpen] = useState<"filter" | "columns" | "csv">();
  const close = () => setOpen(undefined);
  const count = countOf(state.filters);
  return (
    <>
      <Button look={count > 0 ? "main" : "plain"} onClick={() => setOpen("filter")}>
        {count > 0 ? text.filterCount(count) : text.filter}
      </Button>
      <Button onClick={() => setOpen("columns")}>{text.columns}</Button>
      <Button onClick={() => setOpen("csv")} disabled={!rows}>
        {text.csv}
      </Button>
      {open === "filter" && (
        <FilterDialog
          list={list}
          fields={fields}
          filters={state.filters}
          onClose={close}
          onApply={(filters) => {
            change({ filters });
            close();
          }}
        />
      )}
      {open === "columns" && (
        <ColumnsDialog
          list={list}
          columns={fields.columns}
          shown={shown}
          onClose={close}
          onChoose={(names) => {
            choose(names);
            close();
          }}
        />
      )}
      {open === "csv" && (
        <ExportDialog
          about={text.csvAbout}
          wanted={{
            path: "export",
            body: { app_id, kind: list, format: "csv", ...filterBody(state.filters) },
            file: `${list}-${app_id}`,
          }}
          rows={rows ?? 0}
          onClose={close}
        />
      )}
    </>
  );
}
