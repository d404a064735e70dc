import ServiceEssentials

/// What an application does once, at its start: every service is named here and nowhere else.
///
/// Nothing is built yet. The request service, with its thread and its connections, comes into being when somebody first
/// asks the locator for it.
///
/// - Parameters:
///   - baseURL: The API.
///   - pins: The public key of the API's server, and a backup.
///   - anchors: The authorities that count; `.system` for a server on the Internet.
func bootstrap(baseURL: String, pins: [Pin], anchors: TrustAnchors) throws -> ServiceLocator {
    let locator = ServiceLocator(name: "app")
    try locator.register(ConstantEnvironment(baseURL), as: (any EnvironmentService).self)
    try locator.registerLazy((any DataRequestService).self) { locator in
        try HTTPDataRequestService(
            environment: locator.resolve((any EnvironmentService).self),
            trust: TrustPolicy(pins: pins, anchors: anchors))
    }
    return locator
}
