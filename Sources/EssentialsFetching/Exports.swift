@_exported public import EssentialsRequests
