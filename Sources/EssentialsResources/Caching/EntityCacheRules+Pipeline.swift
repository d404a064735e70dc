import EssentialsHTTP
import EssentialsRequests

extension EntityCacheRules {
    /// Why a configuration is refused; `nil` if it is accepted. It is refused if received bytes would be stored twice.
    static func problem(
        of configuration: ResourceConfiguration, _ cache: (any EntityCache)?, over requests: any DataRequestService
    ) -> RequestFailure? {
        let caches = [StageCache](configuration.pipeline, standard: configuration.usesServiceCache ? cache : nil)
        guard caches.contains(where: { $0.stage == .raw }), requests.responseCaching != nil else { return nil }
        return RequestFailure(
            .invalidRequest, "The entity cache at the stage “raw” would store what the response cache stores already.",
            remedy: "Use a cache at the stage “model”, or no response cache.")
    }
}
