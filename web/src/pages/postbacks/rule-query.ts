export const RULES = "postback/rules";
