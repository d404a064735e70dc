public import EssentialsHTTP
public import EssentialsRequests

/// Requests that are started by hand.
extension Resource {
    /// A load like that of ``load(_:priority:)`` that is not started yet, so that hooks can be added first.
    ///
    /// ```swift
    /// let request = film.loadRequest().onProgress { bar.show($0) }.start()
    /// ```
    ///
    /// Once started, the load runs to its end even if no task waits.
    public func loadRequest(_ mode: LoadMode = .current) -> ResourceRequest<Content> {
        let again = RequestOptions(method: .get, cacheControl: LoadOptions.cacheControl(of: mode), isRepeated: true)
        return ResourceRequest(
            RequestStorage(again: { storage(of: again) }) { storage in
                let environment = prepare()
                let core = core
                var options = LoadOptions(mode, of: core, service, in: environment)
                options.progress = storage.progressSource(isGet: true, hasBody: false, service.clock)
                let load = core.beginLoad(options, service, isStarted: true)
                let cancellation = follow(load, storage)
                load.start()
                return cancellation
            })
    }

    /// Starts a load like that of ``load(_:priority:)`` and returns at once. The load runs to its end even if no task
    /// waits.
    @discardableResult
    public func startLoad(_ mode: LoadMode = .current) -> ResourceRequest<Content> { loadRequest(mode).start() }

    /// Starts a load if the content is not fresh and no recent load is running.
    ///
    /// - Returns: The running load, even if the content is fresh; `nil` if no load is needed and no load is running.
    @discardableResult
    public func startLoadIfNeeded() -> ResourceRequest<Content>? {
        let environment = prepare()
        let core = core
        switch service.loadIfNeeded(core, ObjectIdentifier(Content.self), isStarted: true, in: environment) {
        case .nothing:
            guard let load = core.newestLoad, load.options.environment.scope === environment.scope else { return nil }
            core.keep(load)
            return request(following: load)
        case .running(let load):
            core.raise(load, to: nil)
            return request(following: load)
        case .new(let load): return request(following: load)
        }
    }

    /// A request to the URL of the resource, with any method. It is not started yet. It does not change the state and
    /// causes no events.
    ///
    /// ```swift
    /// let request: ResourceRequest<Receipt> = cart.request(.post, body: .model(order))
    /// let receipt = try await request.content
    /// ```
    ///
    /// It has the configuration of the resource for its method, and the codecs and the error model of the resource's
    /// definition. A foreign resource accepts only safe methods.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - body: The body.
    ///   - headerFields: Header fields, which take precedence over those of the configuration.
    ///   - type: The type as which the response body is read: a model, `Data`, `String`, or `EmptyResponse` to ignore
    ///     it.
    ///   - change: Changes the request each time before it is sent.
    public func request<Reply: Sendable>(
        _ method: HTTPRequest.Method, body: DataRequest.Body = .none, headerFields: HTTPFields = [:],
        as type: Reply.Type = Reply.self,
        change: (@Sendable (inout DataRequest) async throws -> Void)? = nil
    ) -> ResourceRequest<Reply> {
        let options = RequestOptions(method: method, headerFields: headerFields, body: body, change: change)
        return ResourceRequest(resource(as: type).storage(of: options))
    }

    /// The running loads and requests, in the order of their start.
    public var runningRequests: [RunningRequest] { any.runningRequests }

    /// A handle for a load that is already running.
    private func request(following load: Load) -> ResourceRequest<Content> {
        let again = RequestOptions(method: .get, isRepeated: true)
        return ResourceRequest(RequestStorage(again: { storage(of: again) }) { storage in follow(load, storage) })
            .start()
    }

    /// Makes a request end with a load.
    ///
    /// - Returns: A closure that ends the interest of the request in the load.
    private func follow(_ load: Load, _ storage: RequestStorage<Content>) -> @Sendable () -> Void {
        storage.follow(load)
        load.whenEnded { [service, core = load.core] outcome in
            core.afterDelivery { storage.end(outcome.result(of: Content.self, service.codecs)) }
        }
        return { load.core.release(load) }
    }

    private func storage(of options: RequestOptions) -> RequestStorage<Content> {
        var repeated = options
        repeated.isRepeated = true
        return RequestStorage(again: { [repeated] in storage(of: repeated) }) { storage in
            let environment = service.adoptEnvironment()
            let source = storage.progressSource(
                isGet: options.method == .get, hasBody: !options.body.isNone, service.clock)
            let core = core
            let number = core.add(options.method) { storage.cancel() }
            let task = Task {
                let exchange = ResourceExchange(
                    service: service, core: core, environment: environment,
                    configuration: service.effective(for: core, options.method))
                let outcome: RequestStorage<Content>.Outcome
                do throws(RequestFailure) {
                    var request = try exchange.request(options)
                    request = request.requesting(ResponseKind(readingAll: [Content.self]))
                    source?.attach(to: &request)
                    outcome = .success(try await exchange.response(to: request, options, as: Content.self))
                } catch {
                    outcome = .failure(error)
                }
                core.remove(request: number)
                storage.end(outcome)
            }
            return {
                core.remove(request: number)
                task.cancel()
            }
        }
    }
}
