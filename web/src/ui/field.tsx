import { type ComponentProps, type ReactNode, useId } from "react";

type Labelled = { label: string; hint?: ReactNode; problem?: string | undefined };

type FrameProps = Labelled & { children: (ids: { id: string; describedBy: string | undefined }) => ReactNode };

function Frame({ label, hint, problem, children }: FrameProps) {
  const id = useId();
  const describedBy = hint || problem ? `${id}-about` : undefined;
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({ id, describedBy })}
      {describedBy && (
        <span id={describedBy} className={problem ? "problem" : "hint"} role={problem ? "alert" : undefined}>
          {problem ?? hint}
        </span>
      )}
    </div>
  );
}

type Changing<Element extends "input" | "textarea" | "select"> = Omit<ComponentProps<Element>, "onChange" | "value"> &
  Labelled & { value: string; onChange: (value: string) => void };

export function TextField({ label, hint, problem, onChange, ...rest }: Changing<"input">) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {({ id, describedBy }) => (
        <input
          {...rest}
          id={id}
          className="input"
          aria-describedby={describedBy}
          aria-invalid={problem !== undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Frame>
  );
}

export function TextArea({ label, hint, problem, onChange, ...rest }: Changing<"textarea">) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {({ id, describedBy }) => (
        <textarea
          {...rest}
          id={id}
          className="input"
          aria-describedby={describedBy}
          aria-invalid={problem !== undefined}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Frame>
  );
}

export type Choice = { value: string; label: string };

export function SelectField({
  label,
  hint,
  problem,
  onChange,
  choices,
  ...rest
}: Changing<"select"> & { choices: readonly Choice[] }) {
  return (
    <Frame label={label} hint={hint} problem={problem}>
      {({ id, describedBy }) => (
        <select
          {...rest}
          id={id}
          className="input"
          aria-describedby={describedBy}
          onChange={(event) => onChange(event.target.value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

type CheckProps = { label: ReactNode; checked: boolean; onChange: (checked: boolean) => void; disabled?: boolean };

export function Check({ label, checked, onChange, disabled = false }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}
