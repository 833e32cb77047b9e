import { useState } from "react";
import type { ShownCatalogue } from "../../../../src/contract/admin/console-report.ts";
import { type CatalogueDimension, type CatalogueMetric, NAME_OF, useLabel } from "../../report/catalogue.ts";
import { useLanguage, useTexts } from "../../texts.ts";
import { FormDialog } from "../../ui/dialog.tsx";
import { Check, TextField } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

type PickProps<Chosen> = {
  catalogue: ShownCatalogue;
  chosen: Chosen;
  onPick: (chosen: Chosen) => void;
  onClose: () => void;
};

/** All metrics by group, with their definitions. */
export function PickMetrics({ catalogue, chosen, onPick, onClose }: PickProps<string[]>) {
  const text = useTexts(texts);
  const label = useLabel();
  const isChinese = useLanguage() === "zh";
  const [picked, setPicked] = useState(chosen);
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const found = catalogue.metrics.filter((metric) => searched(metric).includes(wanted));
  const groups = catalogue.groups.filter(({ name }) => found.some(({ group }) => group === name));
  const toggle = (name: string) =>
    setPicked(picked.includes(name) ? picked.filter((one) => one !== name) : [...picked, name]);
  return (
    <FormDialog
      title={text.chooseMetrics}
      width="wide"
      submit={{ label: text.apply, disabled: picked.length === 0 }}
      doing={{ mutate: () => onPick(picked) }}
      onClose={onClose}
    >
      <TextField
        label={text.search}
        value={search}
        onChange={setSearch}
        problem={picked.length === 0 ? text.oneMetric : undefined}
      />
      {groups.length === 0 && <p className="soft">{text.noneFound}</p>}
      <div className="pick-groups">
        {groups.map((group) => (
          <fieldset key={group.name} className="pick-group">
            <legend>{label(group)}</legend>
            {found
              .filter((metric) => metric.group === group.name)
              .map((metric) => (
                <Check
                  key={metric.name}
                  checked={picked.includes(metric.name)}
                  onChange={() => toggle(metric.name)}
                  label={<Definition title={label(metric)} about={isChinese ? metric.ctip : metric.tip} />}
                />
              ))}
          </fieldset>
        ))}
      </div>
    </FormDialog>
  );
}

function searched({ name, label, cname, tip, ctip }: CatalogueMetric): string {
  return [name, label, cname, tip, ctip].join(" ").toLowerCase();
}

function Definition({ title, about }: { title: string; about: string }) {
  return (
    <span className="definition">
      <span>{title}</span>
      <span className="soft small">{about}</span>
    </span>
  );
}

export type PickedDimensions = { dims: string[]; names: string[] };

/** All dimensions; one that cannot be combined with the picked ones says why. */
export function PickDimensions({ catalogue, chosen, onPick, onClose }: PickProps<PickedDimensions>) {
  const text = useTexts(texts);
  const label = useLabel();
  const [picked, setPicked] = useState(chosen);
  const aboutOf = ({ name }: CatalogueDimension, excluding: readonly CatalogueDimension[]) =>
    excluding.length > 0 ? text.excludedBy(excluding.map(label).join(", ")) : name === "hour" ? text.hourAbout : "";
  const without = (list: readonly string[], name: string) => list.filter((one) => one !== name);
  const toggle = (name: string) => {
    const isOn = picked.dims.includes(name);
    const own = catalogue.associated.filter(({ dimension }) => dimension === name).map((one) => one.name);
    setPicked({
      dims: isOn ? without(picked.dims, name) : [...picked.dims, name],
      names: isOn ? picked.names.filter((one) => !own.includes(one)) : picked.names,
    });
  };
  const toggleName = (name: string) =>
    setPicked({
      ...picked,
      names: picked.names.includes(name) ? without(picked.names, name) : [...picked.names, name],
    });
  return (
    <FormDialog
      title={text.chooseDimensions}
      submit={{ label: text.apply }}
      doing={{ mutate: () => onPick(picked) }}
      onClose={onClose}
    >
      <div className="stack tight pick-list">
        {catalogue.dimensions.map((dimension) => {
          const isOn = picked.dims.includes(dimension.name);
          const excluding = excludingOf(dimension, picked.dims, catalogue);
          const extras = catalogue.associated.filter(
            (one) => one.dimension === dimension.name && one.name !== NAME_OF[dimension.name],
          );
          return (
            <div key={dimension.name}>
              <Check
                checked={isOn}
                disabled={!isOn && excluding.length > 0}
                onChange={() => toggle(dimension.name)}
                label={<Definition title={label(dimension)} about={aboutOf(dimension, excluding)} />}
              />
              {isOn && extras.length > 0 && (
                <div className="row pick-extras">
                  {extras.map((extra) => (
                    <Check
                      key={extra.name}
                      checked={picked.names.includes(extra.name)}
                      onChange={() => toggleName(extra.name)}
                      label={label(extra)}
                    />
                  ))}
                </div>
              )}
            </div>
          );
        })}
      </div>
    </FormDialog>
  );
}

/** The picked dimensions that cannot be combined with this one, by the server's own rule. */
function excludingOf(
  { incompatible }: CatalogueDimension,
  picked: readonly string[],
  catalogue: ShownCatalogue,
): CatalogueDimension[] {
  const excluded = incompatible.map(({ name }) => name).filter((name) => picked.includes(name));
  return catalogue.dimensions.filter(({ name }) => excluded.includes(name));
}
