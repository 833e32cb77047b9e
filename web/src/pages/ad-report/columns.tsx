import { useState } from "react";
import type { ShownCatalogue } from "../../../../src/contract/admin/console-report.ts";
import { useLabel } from "../../report/catalogue.ts";
import { listText } from "../../report/value-list.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { type Chip, ColumnChips } from "./column-chips.tsx";
import { PickDimensions, PickMetrics } from "./pick-dialogs.tsx";
import type { ReportState, UrlState } from "./state.ts";
import { texts } from "./texts.ts";

type ColumnsProps = {
  state: ReportState;
  catalogue: ShownCatalogue;
  onChange: (changes: Partial<UrlState>) => void;
};

/** The columns of the report and their order. */
export function Columns({ state, catalogue, onChange }: ColumnsProps) {
  const text = useTexts(texts);
  const label = useLabel();
  const [picking, setPicking] = useState<"dimensions" | "metrics">();
  const { dims, metrics, names } = state;
  const close = () => setPicking(undefined);
  const chips = (chosen: readonly string[], known: readonly { name: string; label: string; cname: string }[]): Chip[] =>
    chosen.map((name) => {
      const found = known.find((one) => one.name === name);
      return { name, label: found ? label(found) : name };
    });
  /** Removing a dimension also removes the columns that belong to it. */
  const keptNames = (chosen: readonly string[]) =>
    names.filter((name) => chosen.includes(catalogue.associated.find((one) => one.name === name)?.dimension ?? ""));
  return (
    <section className="card stack tight" aria-label={text.columns}>
      <ColumnChips
        title={text.dimensions}
        chips={chips(dims, catalogue.dimensions)}
        least={0}
        empty={text.noDimensions}
        onChange={(next) => onChange({ dims: listText(next), names: listText(keptNames(next)) })}
      >
        <Button size="small" aria-label={text.chooseDimensions} onClick={() => setPicking("dimensions")}>
          {text.edit}
        </Button>
      </ColumnChips>
      <ColumnChips
        title={text.metrics}
        chips={chips(metrics, catalogue.metrics)}
        least={1}
        onChange={(next) => onChange({ metrics: listText(next) })}
      >
        <Button size="small" aria-label={text.chooseMetrics} onClick={() => setPicking("metrics")}>
          {text.edit}
        </Button>
      </ColumnChips>
      {picking === "dimensions" && (
        <PickDimensions
          catalogue={catalogue}
          chosen={{ dims, names }}
          onClose={close}
          onPick={(picked) => {
            onChange({ dims: listText(picked.dims), names: listText(picked.names) });
            close();
          }}
        />
      )}
      {picking === "metrics" && (
        <PickMetrics
          catalogue={catalogue}
          chosen={metrics}
          onClose={close}
          onPick={(picked) => {
            onChange({ metrics: listText(picked) });
            close();
          }}
        />
      )}
    </section>
  );
}
