"""The portal for assistants: an MCP server whose tools are operations of the API (``docs/mcp.md``). The SDK is imported on first use."""
