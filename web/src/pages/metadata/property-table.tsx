import { useState } from "react";
import type { ShownPropertyMeta } from "../../../../src/contract/setting/metadata.ts";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { type PropertyType, useDeclaring } from "./declaring.ts";
import { NothingHere, StateBadge } from "./state-badge.tsx";
import { texts } from "./texts.ts";
import { TypeField } from "./type-field.tsx";

type PropertyTableProps = { properties: readonly ShownPropertyMeta[]; all: readonly ShownPropertyMeta[] };

export function PropertyTable({ properties, all }: PropertyTableProps) {
  const text = useTexts(texts);
  const format = useFormat();
  const mayChange = useMay("setting");
  const [declaring, setDeclaring] = useState<ShownPropertyMeta>();
  const columns: Column<ShownPropertyMeta>[] = [
    { name: "name", title: text.columns.name, cell: ({ name }) => <code>{name}</code> },
    { name: "scope", title: text.columns.scope, cell: ({ scope }) => text.scopes[scope] },
    { name: "type", title: text.columns.type, cell: ({ type }) => text.types[type] },
    { name: "state", title: text.columns.state, cell: ({ state }) => <StateBadge state={state} /> },
    { name: "changed", title: text.columns.changed, cell: ({ changed_at_ms }) => format.instant(changed_at_ms) },
  ];
  if (mayChange) {
    columns.push({
      name: "actions",
      title: text.columns.actions,
      cell: (property) => (
        <Button
          size="small"
          look={property.state === "observed" ? "plain" : "quiet"}
          onClick={() => setDeclaring(property)}
        >
          {text.declare}
        </Button>
      ),
    });
  }
  return (
    <>
      <DataTable
        label={text.tabs.properties}
        columns={columns}
        rows={properties}
        keyOf={({ scope, name }) => `${scope} ${name}`}
        empty={<NothingHere isFiltered={all.length > 0} />}
      />
      {declaring && <PropertyDialog property={declaring} onClose={() => setDeclaring(undefined)} />}
    </>
  );
}

function PropertyDialog({ property, onClose }: { property: ShownPropertyMeta; onClose: () => void }) {
  const text = useTexts(texts);
  const { scope, name } = property;
  const [type, setType] = useState<PropertyType>(property.type === "any" ? "string" : property.type);
  const declaring = useDeclaring(
    { kind: "property", scope, name, type },
    { said: text.declared(name), onDone: onClose },
  );
  return (
    <FormDialog title={text.propertyTitle(name)} onClose={onClose} submit={{ label: text.declare }} doing={declaring}>
      <TypeField value={type} onChange={setType} />
      <p className="soft">{text.propertyText}</p>
    </FormDialog>
  );
}
