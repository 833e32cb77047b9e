import type { HealthAnswer } from "../../../../src/contract/admin/health.ts";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { texts } from "./node-texts.ts";

type Node = HealthAnswer["nodes"][number];

/** The processes of the installation. Hidden where this server is the only one. */
export function Nodes({ health: { nodes, now_ms: nowMs } }: { health: HealthAnswer }) {
  const text = useTexts(texts);
  const { ago, instant } = useFormat();
  if (nodes.length < 2) return null;
  const sign = ({ silent_ms: silentMs }: Node) => ago(nowMs - silentMs, nowMs);
  const columns: Column<Node>[] = [
    { name: "host", title: text.host, cell: ({ host, process_id }) => `${host} · ${process_id}` },
    { name: "address", title: text.address, cell: ({ address }) => address },
    { name: "roles", title: text.roles, cell: ({ roles }) => roles.join(", ") },
    { name: "version", title: text.version, cell: ({ version }) => version },
    { name: "started", title: text.started, cell: ({ started_at_ms }) => instant(started_at_ms) },
    {
      name: "sign",
      title: text.sign,
      cell: (node) => {
        if (node.is_silent) return <Badge tone="bad">{sign(node)}</Badge>;
        if (node.trouble === "") return text.alive;
        return (
          <span title={node.trouble}>
            <Badge tone="bad">{text.stuck}</Badge>
          </span>
        );
      },
    },
  ];
  return (
    <section className="stack tight">
      <h2>{text.title}</h2>
      <DataTable label={text.title} columns={columns} rows={nodes} keyOf={({ node_id }) => node_id} />
    </section>
  );
}
