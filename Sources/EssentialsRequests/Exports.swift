@_exported public import EssentialsHTTP
