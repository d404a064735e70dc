// What a program sees that imports only this module. A name that few programs need is left to its own module, which is imported
// beside this one: `import EssentialsTransport`. A type with operators of its own is not among them, because operators are
// exported only with their whole module.

@_exported public import EssentialsPersistence
@_exported public import EssentialsSQLite
@_exported public import HTTPTypes

// MARK: EssentialsLocator

@_exported public import struct EssentialsLocator.Assembly
@_exported public import protocol EssentialsLocator.Closeable
@_exported public import struct EssentialsLocator.LocatorReference
@_exported public import struct EssentialsLocator.Registration
@_exported public import struct EssentialsLocator.Resolved
@_exported public import struct EssentialsLocator.ServiceGraph
@_exported public import class EssentialsLocator.ServiceLocator
@_exported public import struct EssentialsLocator.ServiceLocatorError
@_exported public import protocol EssentialsLocator.ServiceProxy
@_exported public import struct EssentialsLocator.ServiceReference
@_exported public import struct EssentialsLocator.WeakHandle
@_exported public import struct EssentialsLocator.WeaklyResolved

// MARK: EssentialsTransport

@_exported public import struct EssentialsTransport.Backoff
@_exported public import struct EssentialsTransport.CircuitOpen
@_exported public import struct EssentialsTransport.ClientIdentity
@_exported public import struct EssentialsTransport.HostName
@_exported public import struct EssentialsTransport.HostRule
@_exported public import struct EssentialsTransport.Origin
@_exported public import struct EssentialsTransport.PEM
@_exported public import struct EssentialsTransport.Pin
@_exported public import struct EssentialsTransport.PinSet
@_exported public import struct EssentialsTransport.Proxy
@_exported public import struct EssentialsTransport.ProxyBypass
@_exported public import struct EssentialsTransport.ProxyPolicy
@_exported public import struct EssentialsTransport.RequestBody
@_exported public import struct EssentialsTransport.RequestFailure
@_exported public import enum EssentialsTransport.RequestPriority
@_exported public import struct EssentialsTransport.RequestURL
@_exported public import struct EssentialsTransport.ResponseBody
@_exported public import enum EssentialsTransport.Revocation
@_exported public import enum EssentialsTransport.TLSVersion
@_exported public import protocol EssentialsTransport.Transport
@_exported public import struct EssentialsTransport.TransportOptions
@_exported public import struct EssentialsTransport.TransportRequest
@_exported public import struct EssentialsTransport.TransportResponse
@_exported public import struct EssentialsTransport.TrustAnchors
@_exported public import struct EssentialsTransport.TrustPolicy

// MARK: EssentialsHTTP

@_exported public import protocol EssentialsHTTP.BodyCodec
@_exported public import struct EssentialsHTTP.CircuitBreaker
@_exported public import struct EssentialsHTTP.CodecRegistry
@_exported public import struct EssentialsHTTP.Cookie
@_exported public import struct EssentialsHTTP.CookieFile
@_exported public import class EssentialsHTTP.CookieJar
@_exported public import protocol EssentialsHTTP.CookieStorage
@_exported public import struct EssentialsHTTP.DownloadOptions
@_exported public import struct EssentialsHTTP.DownloadedFile
@_exported public import struct EssentialsHTTP.EmptyResponse
@_exported public import struct EssentialsHTTP.FormEncoding
@_exported public import protocol EssentialsHTTP.FormParameterValue
@_exported public import struct EssentialsHTTP.FormParameters
@_exported public import enum EssentialsHTTP.IdempotencyKey
@_exported public import struct EssentialsHTTP.JSONCodec
@_exported public import enum EssentialsHTTP.JSONValue
@_exported public import struct EssentialsHTTP.LossyArray
@_exported public import struct EssentialsHTTP.MediaPattern
@_exported public import struct EssentialsHTTP.MediaType
@_exported public import struct EssentialsHTTP.MillisecondsSince1970
@_exported public import struct EssentialsHTTP.MultipartBody
@_exported public import struct EssentialsHTTP.MultipartPart
@_exported public import struct EssentialsHTTP.OriginLimits
@_exported public import struct EssentialsHTTP.ProgressReport
@_exported public import struct EssentialsHTTP.PublicSuffixRules
@_exported public import struct EssentialsHTTP.QueryItems
@_exported public import struct EssentialsHTTP.RateLimit
@_exported public import struct EssentialsHTTP.RedirectPolicy
@_exported public import struct EssentialsHTTP.RequestClock
@_exported public import struct EssentialsHTTP.RetryBudget
@_exported public import struct EssentialsHTTP.RetryPolicy
@_exported public import struct EssentialsHTTP.ServerSentEvent
@_exported public import struct EssentialsHTTP.ServerSentEventSequence
@_exported public import struct EssentialsHTTP.TransferProgress
@_exported public import struct EssentialsHTTP.WebLink

// MARK: EssentialsCurl

@_exported public import struct EssentialsCurl.CertificateChain
@_exported public import class EssentialsCurl.CompiledTrust
@_exported public import class EssentialsCurl.CurlTransport
@_exported public import class EssentialsCurl.CurlTransports

// MARK: EssentialsReachability

@_exported public import class EssentialsReachability.ReachabilityObservation
@_exported public import protocol EssentialsReachability.ReachabilityService
@_exported public import enum EssentialsReachability.ReachabilityStatus
@_exported public import struct EssentialsReachability.ReachabilityTarget
@_exported public import class EssentialsReachability.ReachabilityTracker
@_exported public import struct EssentialsReachability.RouteError

// MARK: EssentialsRequests

@_exported public import struct EssentialsRequests.APIConfiguration
@_exported public import struct EssentialsRequests.APIRequest
@_exported public import enum EssentialsRequests.APIRequestBuilder
@_exported public import protocol EssentialsRequests.APIService
@_exported public import enum EssentialsRequests.AcceptProfile
@_exported public import struct EssentialsRequests.AccessToken
@_exported public import protocol EssentialsRequests.AccessTokenProvider
@_exported public import struct EssentialsRequests.AccessTokenRejection
@_exported public import protocol EssentialsRequests.AuthorizationService
@_exported public import protocol EssentialsRequests.BoundEndpoint
@_exported public import protocol EssentialsRequests.BuildableRequest
@_exported public import class EssentialsRequests.CancellableToken
@_exported public import struct EssentialsRequests.ConstantEnvironment
@_exported public import struct EssentialsRequests.CookieChoice
@_exported public import struct EssentialsRequests.Credentials
@_exported public import struct EssentialsRequests.DataRequest
@_exported public import protocol EssentialsRequests.DataRequestDecorator
@_exported public import protocol EssentialsRequests.DataRequestService
@_exported public import struct EssentialsRequests.DataResponse
@_exported public import struct EssentialsRequests.DelegateInterceptor
@_exported public import struct EssentialsRequests.DigestMinimum
@_exported public import protocol EssentialsRequests.Endpoint
@_exported public import protocol EssentialsRequests.EntityCache
@_exported public import struct EssentialsRequests.EntityPartition
@_exported public import enum EssentialsRequests.EnvironmentAPI
@_exported public import class EssentialsRequests.EnvironmentReachability
@_exported public import protocol EssentialsRequests.EnvironmentService
@_exported public import struct EssentialsRequests.EnvironmentSnapshot
@_exported public import class EssentialsRequests.FileEntityCache
@_exported public import class EssentialsRequests.FileTokenStore
@_exported public import class EssentialsRequests.HTTPDataRequestService
@_exported public import struct EssentialsRequests.HopOutcome
@_exported public import class EssentialsRequests.MemoryEntityCache
@_exported public import class EssentialsRequests.MemoryTokenStore
@_exported public import struct EssentialsRequests.ModelResponse
@_exported public import class EssentialsRequests.MutableEnvironment
@_exported public import class EssentialsRequests.OAuth2Tokens
@_exported public import struct EssentialsRequests.PageSequence
@_exported public import struct EssentialsRequests.Paging
@_exported public import protocol EssentialsRequests.PrivateStateStore
@_exported public import struct EssentialsRequests.Redaction
@_exported public import struct EssentialsRequests.RequestAuthorization
@_exported public import struct EssentialsRequests.RequestBase
@_exported public import struct EssentialsRequests.RequestBuilder
@_exported public import struct EssentialsRequests.RequestContent
@_exported public import struct EssentialsRequests.RequestDraft
@_exported public import struct EssentialsRequests.RequestHeader
@_exported public import struct EssentialsRequests.RequestHeaders
@_exported public import protocol EssentialsRequests.RequestInterceptor
@_exported public import class EssentialsRequests.RequestLimits
@_exported public import struct EssentialsRequests.RequestPath
@_exported public import protocol EssentialsRequests.RequestPreparationDelegate
@_exported public import struct EssentialsRequests.RequestProperties
@_exported public import struct EssentialsRequests.RequestQuery
@_exported public import struct EssentialsRequests.RequestSettings
@_exported public import struct EssentialsRequests.RequestSnapshot
@_exported public import struct EssentialsRequests.ResourceURL
@_exported public import class EssentialsRequests.SealedEntityCache
@_exported public import protocol EssentialsRequests.ServiceRequest
@_exported public import struct EssentialsRequests.StatusExpectation
@_exported public import struct EssentialsRequests.StoredTokens
@_exported public import class EssentialsRequests.SwitchableEnvironment
@_exported public import protocol EssentialsRequests.TokenStore
@_exported public import protocol EssentialsRequests.TypedRequest

// MARK: EssentialsFetching

@_exported public import protocol EssentialsFetching.AsyncCache
@_exported public import class EssentialsFetching.BlobService
@_exported public import class EssentialsFetching.CacheProblemLog
@_exported public import struct EssentialsFetching.CachedModel
@_exported public import struct EssentialsFetching.CachedValue
@_exported public import struct EssentialsFetching.Emission
@_exported public import struct EssentialsFetching.Emissions
@_exported public import struct EssentialsFetching.FetchDefaults
@_exported public import struct EssentialsFetching.FetchOptions
@_exported public import struct EssentialsFetching.FetchSource
@_exported public import protocol EssentialsFetching.FetchingService
@_exported public import class EssentialsFetching.ModelCache
@_exported public import protocol EssentialsFetching.ModelCaching
@_exported public import struct EssentialsFetching.ModelKey
@_exported public import protocol EssentialsFetching.ObservableCache
@_exported public import struct EssentialsFetching.ObservedCache
@_exported public import class EssentialsFetching.Outbox
@_exported public import struct EssentialsFetching.OutboxEntry
@_exported public import struct EssentialsFetching.OutdatedModel

// MARK: EssentialsResources

@_exported public import struct EssentialsResources.AnyResource
@_exported public import struct EssentialsResources.DependentResource
@_exported public import struct EssentialsResources.Entity
@_exported public import struct EssentialsResources.FailureTransformer
@_exported public import class EssentialsResources.HTTPResourceService
@_exported public import struct EssentialsResources.ImageHeader
@_exported public import struct EssentialsResources.ObserverToken
@_exported public import class EssentialsResources.PagedResource
@_exported public import struct EssentialsResources.PipelineStage
@_exported public import struct EssentialsResources.PushedResources
@_exported public import struct EssentialsResources.RelatedResources
@_exported public import struct EssentialsResources.Resource
@_exported public import enum EssentialsResources.ResourceAddress
@_exported public import struct EssentialsResources.ResourceChange
@_exported public import struct EssentialsResources.ResourceConfiguration
@_exported public import typealias EssentialsResources.ResourceDecorator
@_exported public import enum EssentialsResources.ResourceEvent
@_exported public import struct EssentialsResources.ResourceExpiration
@_exported public import struct EssentialsResources.ResourceGroup
@_exported public import class EssentialsResources.ResourceObservation
@_exported public import class EssentialsResources.ResourceObservations
@_exported public import protocol EssentialsResources.ResourceObserver
@_exported public import struct EssentialsResources.ResourcePattern
@_exported public import struct EssentialsResources.ResourcePipeline
@_exported public import class EssentialsResources.ResourcePrefetch
@_exported public import struct EssentialsResources.ResourceRefresh
@_exported public import struct EssentialsResources.ResourceRequest
@_exported public import protocol EssentialsResources.ResourceService
@_exported public import class EssentialsResources.ResourceSlot
@_exported public import struct EssentialsResources.ResourceState
@_exported public import enum EssentialsResources.ResourceStatus
@_exported public import class EssentialsResources.ResourceStatusSet
@_exported public import struct EssentialsResources.ResourceVariant
@_exported public import struct EssentialsResources.Transformer
@_exported public import struct EssentialsResources.WriteOptions
@_exported public import struct EssentialsResources.WriteOutcome
