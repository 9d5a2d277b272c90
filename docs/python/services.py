import memoryd.adk.services
