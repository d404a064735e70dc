@_exported public import EssentialsCurl
@_exported public import EssentialsHTTP
@_exported public import EssentialsLocator
@_exported public import EssentialsPersistence
@_exported public import EssentialsReachability
@_exported public import EssentialsRequests
@_exported public import EssentialsResources
@_exported public import EssentialsSQLite
