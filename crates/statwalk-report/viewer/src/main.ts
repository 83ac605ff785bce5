// SPDX-License-Identifier: MIT OR Apache-2.0

// The page of a report, with the data that are in it.

import { InlineProvider } from "./inline";
import { show } from "./page";

show(new InlineProvider(document), document.body).catch((error: unknown) => {
  const text = document.createElement("p");
  text.className = "failed";
  text.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  document.body.append(text);
});
