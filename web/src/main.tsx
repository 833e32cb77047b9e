import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { followTheme } from "./theme.ts";
import "./ui/theme.css";
import "./ui/base.css";
import "./ui/controls.css";
import "./ui/data.css";

followTheme();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
