import type { ConnectorList } from "../../../../src/contract/setting/connector.ts";
import { useAppQuery } from "../../app-query.ts";
import { useLanguage, useTexts } from "../../texts.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { CONNECTORS } from "./connector-query.ts";
import { HINTS_IN_CHINESE, texts } from "./texts.ts";

/** What the texts of a declaration may hold. */
export function Placeholders() {
  const text = useTexts(texts).placeholders;
  const language = useLanguage();
  const { data } = useAppQuery<ConnectorList>(CONNECTORS);
  const more = text.more.map(([name, hint]) => ({ name, hint }));
  return (
    <details className="connector-more">
      <summary>{text.title}</summary>
      <p className="soft small">{text.about}</p>
      <DataTable
        label={text.title}
        rows={[...(data?.placeholders ?? []), ...more]}
        keyOf={({ name }) => name}
        columns={[
          { name: "name", title: text.name, cell: ({ name }) => <code>{`{${name}}`}</code> },
          {
            name: "hint",
            title: text.meaning,
            cell: ({ name, hint }) => (language === "zh" ? (HINTS_IN_CHINESE[name] ?? hint) : hint),
          },
        ]}
      />
    </details>
  );
}
