#if Server || Inspector
    import EssentialsHTTP
    import EssentialsRequests
    import EssentialsTestKit

    /// A service over a scripted transport, with observers.
    struct ObservedFixture {
        let transport = ScriptedTransport()
        let service: HTTPDataRequestService

        init(
            _ observers: [any RequestObserver],
            _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
        ) throws {
            var configuration = HTTPDataRequestService.Configuration()
            configuration.observers = observers
            change(&configuration)
            service = HTTPDataRequestService(
                environment: try ConstantEnvironment("https://h/v1/"), transport: transport,
                configuration: configuration)
        }

        func send(_ request: DataRequest) async { _ = try? await service.send(request) }
    }
#endif
