public import EssentialsHTTP
package import EssentialsTools
public import FoundationEssentials

/// Something that happens to a request, as a ``RequestObserver`` is told it.
///
/// Each call has exactly one event ``Kind/began(_:)``, which is its first, and exactly one ``Kind/ended(_:)``, which is its
/// last: also if it is refused before anything is sent, if it is cancelled, and if its streamed body is dropped. URLs and header
/// fields are shown as the service's ``Redaction`` says. Failures have neither the body nor the secret fields of their responses;
/// their messages, and the errors that interceptors and providers have thrown, are not changed.
///
/// ```swift
/// func observe(_ event: RequestEvent) { print(event.call.id, event.elapsed, event) }
/// ```
public struct RequestEvent: Sendable {
    /// The call.
    public let call: RequestCall
    /// The number of the attempt that was begun last, over all hops, challenges and retries; 0 before the first one.
    public let attempt: Int
    /// When it happened.
    public var instant: ContinuousClock.Instant { time.instant }
    /// The same.
    package let time: SteadyInstant
    /// What happened.
    public let kind: Kind

    /// The time since the call began.
    public var elapsed: Duration { time - call.time }

    /// What happened. New kinds may be added, so an observer has a `default`.
    public enum Kind: Sendable {
        /// The call has begun.
        case began(Beginning)
        /// Fields that several places set have taken the value of the most specific one.
        case passedOver([HTTPField.Name])
        /// The request was prepared by the interceptors and goes to the stages that send it. A download that is resumed is
        /// prepared again for each part.
        case prepared(ObservedRequest)
        /// The request has waited. It goes on, unless its time was over or it was cancelled.
        case waited(Wait)
        /// The transport receives the request. The attempt is counted from here.
        case sent(ObservedRequest)
        /// The head of the response to an attempt has come, and its body unless it is streamed.
        case head(ObservedResponse)
        /// An attempt has failed in the transport.
        case attemptFailed(RequestFailure)
        /// A redirect is followed.
        indirect case redirected(ObservedRedirect)
        /// New credentials are sent with the next attempt.
        case authorized(Authorization)
        /// What the response cache has done for a hop.
        indirect case cached(CacheUse)
        /// The call waits for an equal one that is running, and shares its response.
        case joined
        /// An attempt has failed, and another one follows.
        indirect case retrying(Retry)
        /// The circuit breaker of the origin has changed during an attempt. Each call that had an attempt at that time is told.
        indirect case breaker(Origin, OriginLimits.State)
        /// The `Cookie` field has no room for this number of cookies.
        case cookiesLeftOut(Int)
        /// Cookies of a response were not stored.
        case cookiesRefused([CookieRefusal])
        /// The response is returned. The body of a streamed one is yet to come.
        case received(Reception)
        /// A body, for observers with a ``RequestObserver/bodyLimit``: that of a request, if it is in memory and nobody receives
        /// its progress; that of a response from the server, when it is whole or at the end of its stream. The bodies of
        /// downloads and of stored responses, and those of failures that came as a stream, are not told.
        case body(Body)
        /// The call has ended.
        case ended(Ending)
    }

    /// The beginning of a call.
    public struct Beginning: Sendable, CustomReflectable {
        private struct Parts {
            let target: Target
            let redaction: Shared<Redaction>
            let urlTemplate: String?
            let environment: String?
        }

        /// The URL before the interceptors and without parameters.
        enum Target: Sendable {
            /// A known one; `nil` if the request is invalid.
            case url(RequestURL?)
            /// One that is made when an observer asks for it.
            case path(PathPlace)

            var url: RequestURL? {
                switch self {
                case .url(let url): url
                case .path(let place): try? place.url
                }
            }
        }

        /// It is an object, because an event is copied often.
        private let parts: Shared<Parts>

        init(_ target: Target, redaction: Shared<Redaction>, urlTemplate: String? = nil, environment: String?) {
            parts = Shared(
                Parts(target: target, redaction: redaction, urlTemplate: urlTemplate, environment: environment))
        }

        /// The URL before the interceptors and without parameters, as the redaction shows it; `nil` if the request has none,
        /// because it is invalid.
        public var url: String? { parts.values.target.url.map { parts.values.redaction.values.text(of: $0) } }
        /// The path with its values replaced; see ``DataRequest/urlTemplate``. `nil` if the request has none.
        public var urlTemplate: String? { parts.values.urlTemplate }
        /// The name of the service's environment; `nil` for a request to another base or in the background, and for an
        /// environment without a name.
        public var environment: String? { parts.values.environment }
        /// The properties for debuggers and `dump`, also without secrets.
        public var customMirror: Mirror {
            Mirror(
                self,
                children: ["url": url as Any, "urlTemplate": urlTemplate as Any, "environment": environment as Any])
        }
    }

    /// The end of a wait.
    public struct Wait: Sendable, Hashable {
        /// What is waited for.
        public enum Reason: String, Sendable, Hashable {
            /// The limits of the origin.
            case limits
            /// An access token.
            case token
            /// The validation of a stored response by another request.
            case validation
        }

        /// What was waited for.
        public let reason: Reason
        /// How long.
        public let duration: Duration
    }

    /// New credentials.
    public enum Authorization: String, Sendable, Hashable {
        /// The answer to a challenge.
        case challenge
        /// A new access token.
        case token
    }

    /// A retry.
    public struct Retry: Sendable {
        /// Why the attempt has failed.
        public let failure: RequestFailure
        /// The number of the failed attempt, of those that count as retries, from 1.
        public let attempt: Int
        /// The wait before the next attempt.
        public let wait: Duration
        /// The units that are left in the retry budget; `nil` if the next attempt takes none.
        public let budget: Int?
    }

    /// The response that is returned.
    public struct Reception: Sendable {
        /// The number of times that the request was passed to the transport; of a resumed download, its last part.
        public let attempts: Int
        /// The number of redirects that were followed.
        public let redirects: Int
        /// What the response cache has done for the last hop; `nil` without one.
        public var cache: CacheUse? { cacheUse?.values }
        /// The response.
        public let response: ObservedResponse
        /// It is an object, because few responses have it, and an event is copied often.
        private let cacheUse: Shared<CacheUse>?

        init(attempts: Int, redirects: Int, cache: CacheUse?, response: ObservedResponse) {
            (self.attempts, self.redirects, self.response) = (attempts, redirects, response)
            cacheUse = cache.map { Shared($0) }
        }
    }

    /// The bytes of a body, up to the limit of the observer.
    public struct Body: Sendable, Hashable {
        /// Whether it is the body of the response.
        public let isOfResponse: Bool
        /// The first bytes.
        public let bytes: Data
        /// Whether there are more, or may be.
        public let isTruncated: Bool

        func limited(to count: Int) -> Body {
            bytes.count <= count
                ? self : Body(isOfResponse: isOfResponse, bytes: Data(bytes.prefix(count)), isTruncated: true)
        }
    }

    /// The end of a call.
    public struct Ending: Sendable {
        /// How it has ended.
        public enum Outcome: Sendable {
            /// The response was returned, and its body has come to its end.
            case completed
            /// The streamed body was released before its end.
            case dropped
            /// The call has failed, or its body has.
            case failed(RequestFailure)
        }

        /// How it has ended.
        public let outcome: Outcome
        /// The bytes of a streamed body, or of a download that is complete, that were read, after decompression; `nil` for
        /// other calls.
        public let bytesRead: Int64?
        /// The metrics of a streamed body or a download that was read to its end; `nil` for other calls, whose metrics are in
        /// ``RequestEvent/Kind/received(_:)``.
        public var metrics: TransportMetrics? { rest?.values.metrics }
        /// The progress of a call that has failed in the stages that send it; `nil` for others.
        public var progress: Progress? { rest?.values.progress }
        /// It is an object, because few calls have it, and an event is copied often.
        private let rest: Shared<Rest>?

        private struct Rest {
            let metrics: TransportMetrics?
            let progress: Progress?
        }

        init(outcome: Outcome, bytesRead: Int64?, metrics: TransportMetrics?, progress: Progress?) {
            (self.outcome, self.bytesRead) = (outcome, bytesRead)
            let isPlain = metrics == nil && progress == nil
            rest = isPlain ? nil : Shared(Rest(metrics: metrics, progress: progress))
        }

        /// The failure; `nil` if there was none.
        public var failure: RequestFailure? { if case .failed(let failure) = outcome { failure } else { nil } }

        /// How far a call has come.
        public struct Progress: Sendable {
            /// The number of times that the request was passed to the transport; of a resumed download, its last part.
            public let attempts: Int
            /// The number of redirects that were followed.
            public let redirects: Int
            /// What the response cache has done for the last hop; `nil` without one.
            public let cache: CacheUse?
            /// The response that was a failure, such as one with an unexpected status; `nil` if there was none.
            public let response: ObservedResponse?

            init(attempts: Int, redirects: Int, cache: CacheUse?, response: ObservedResponse?) {
                (self.attempts, self.redirects, self.cache, self.response) = (attempts, redirects, cache, response)
            }

            /// The progress of a call whose response was returned, and that has failed with it, such as a download whose body
            /// breaks off.
            init(_ reception: Reception) {
                self.init(
                    attempts: reception.attempts, redirects: reception.redirects, cache: reception.cache, response: nil)
            }
        }
    }
}

extension RequestEvent: CustomStringConvertible {
    /// What happened, in one line without times.
    public var description: String {
        switch kind {
        case .began(let beginning):
            "began \(call.method.rawValue) \(beginning.url ?? "-")"
                + (beginning.environment.map { " in \($0)" } ?? "") + (call.isBackground ? ", in the background" : "")
        case .passedOver(let names): "fields passed over: \(names.map(\.rawName).joined(separator: ", "))"
        case .prepared(let request): "prepared \(request)"
        case .waited(let wait): "waited for \(wait.reason.rawValue)"
        case .sent(let request): "attempt \(attempt): sent \(request)"
        case .head(let response): "attempt \(attempt): \(response)"
        case .attemptFailed(let failure): "attempt \(attempt): failed, \(failure.reason)"
        case .redirected(let hop): "redirected by \(hop.status.code) to \(hop.to)"
        case .authorized(let authorization): "authorized by a \(authorization.rawValue)"
        case .cached(let use): "cache: \(use.outcome)\(use.isStored ? ", stored" : "")"
        case .joined: "joined an equal request"
        case .retrying(let retry): "retrying after \(retry.failure.reason)"
        case .breaker(let origin, let state): "breaker of \(origin): \(state.circuit.name)"
        case .cookiesLeftOut(let count): "cookies left out: \(count)"
        case .cookiesRefused(let refusals): "cookies refused: \(refusals.count)"
        case .received(let reception): "received \(reception.response)"
        case .body(let body):
            "\(body.isOfResponse ? "response" : "request") body: \(body.bytes.count) bytes"
                + (body.isTruncated ? " and more" : "")
        case .ended(let ending): "ended: \(ending)"
        }
    }
}

extension RequestEvent.Ending: CustomStringConvertible {
    /// How the call has ended, and how much of a streamed body was read.
    public var description: String {
        let text =
            switch outcome {
            case .completed: "completed"
            case .dropped: "dropped"
            case .failed(let failure): "failed, \(failure.reason)"
            }
        return bytesRead.map { "\(text) after \($0) bytes" } ?? text
    }
}
