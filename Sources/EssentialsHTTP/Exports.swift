@_exported public import EssentialsTransport
