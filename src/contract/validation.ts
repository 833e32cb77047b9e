import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { ApiError } from "../errors.ts";
import { SharedSchemas } from "./shared-schema.ts";

/**
 * The rules by which bodies are checked: nothing is coerced, filled in or removed, and keys that are not in the schema
 * are ignored.
 */
const ajv = new Ajv({
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  allowUnionTypes: true,
  // All schemas are ours, and test/contract.test.ts checks them: checking them again takes a tenth of the server's start.
  validateSchema: false,
  inlineRefs: false,
});

let shares = 0;
const shared = new SharedSchemas((schema) => {
  shares += 1;
  const name = `shared-${shares}`;
  ajv.addSchema(schema, name);
  return name;
});
const compiled = new WeakMap<object, ValidateFunction>();

function compile(schema: object): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const made = ajv.compile(shared.copyOf(schema));
  compiled.set(schema, made);
  return made;
}

/** Why a value is invalid, or undefined when it is valid. For structures that arrive inside another one. */
export function messageOfInvalid(schema: object, value: unknown): string | undefined {
  const validate = compile(schema);
  return validate(value) ? undefined : sentenceOf(validate.errors ?? []);
}

export type Validate = (value: unknown) => void;

/** A validator that throws a refusal naming the wrong parameter. */
export function validatorOf(schema: object): Validate {
  const validate = compile(schema);
  return (value) => {
    if (!validate(value)) throw new ApiError("badParameter", sentenceOf(validate.errors ?? []));
  };
}

/**
 * A validator for the framework, which expects the errors on the function itself. It is compiled when a request first
 * needs it, or when `later` runs it: compiling all routes' schemas would take a third of the server's start.
 */
export function routeValidatorOf(schema: object, later: (compile: () => void) => void = () => {}): ValidateFunction {
  later(() => compile(schema));
  const validate = (value: unknown) => {
    const made = compile(schema);
    const isValid = made(value);
    validate.errors = made.errors;
    return isValid;
  };
  validate.errors = undefined as ValidateFunction["errors"];
  return validate as ValidateFunction;
}

/** One sentence that names the parameter. For an `anyOf`, the first branch describes what is expected. */
export function sentenceOf(errors: readonly Partial<ErrorObject>[]): string {
  const error = errors.find((candidate) => candidate.keyword !== "anyOf") ?? errors[0];
  if (!error) return "A parameter is wrong.";
  const path = (error.instancePath ?? "").slice(1).replaceAll("/", ".");
  const params = error.params as
    | { missingProperty?: string; allowedValues?: unknown[]; type?: string | string[] }
    | undefined;
  if (error.keyword === "required") return `${[path, params?.missingProperty].filter(Boolean).join(".")} is missing.`;
  const name = path || "The body";
  if (error.keyword === "enum")
    return `${name} must be one of ${params?.allowedValues?.filter((value) => value !== "").join(", ")}.`;
  if (error.keyword === "type")
    return `${name} must be ${[params?.type]
      .flat()
      .filter((type) => type !== "null")
      .join(" or ")}.`;
  return `${name} ${error.message}.`;
}
