import EssentialsHTTP
import EssentialsRequests
import FoundationEssentials

/// A value that is kept with its resource, behind one reference, because most resources of a large table have none.
final class KeptValue: Sendable {
    let value: LoadedValue

    init(_ value: LoadedValue) { self.value = value }
}

/// The result of a load or an override, before it is read as the content types of the views.
struct LoadedValue: Sendable {
    /// The body; `nil` if it was not kept, or if the value was set without one.
    var body: Data?
    /// The value that the pipeline or an override has made; `nil` if only the body exists.
    var value: (any Sendable)?
    /// The value of the `Content-Type` field.
    var contentType: String?
    /// The head of the response, for failures to read the body.
    var head: HTTPResponse
    /// The method of the request, for failures to read the body.
    var method = HTTPRequest.Method.get
    /// The URL of the response, for failures to read the body.
    var url: RequestURL?
    /// The codecs of the request; `nil` for those of the service.
    var codecs: CodecRegistry?

    /// The largest body in bytes that is kept for views that are added later.
    static let keptBodyLimit = 16 << 10

    /// The value as it is kept with the resource, which is without a large body.
    var kept: LoadedValue {
        guard let body, body.count > Self.keptBodyLimit else { return self }
        var kept = self
        kept.body = nil
        return kept
    }

    /// The metadata of the value as it was received at a date.
    func entity(at date: Date) -> Entity {
        Entity(
            mediaType: contentType.flatMap { MediaType(parsing: $0) }, headerFields: head.headerFields, date: date,
            byteCount: body?.count ?? 0)
    }

    /// Whether the value can later be read as another type.
    var isReadable: Bool { body != nil || value != nil }

    /// Reads content of a type. This is the value if it has the type, and otherwise the body as read by the codec of
    /// its media type. An ``ImageHeader`` needs no codec.
    ///
    /// - Returns: `nil` if the value has another type and there is no body.
    func content<Content: Sendable>(
        of type: Content.Type, _ codecs: CodecRegistry
    ) -> Result<Content, RequestFailure>? {
        if let value, let content = value as? Content { return .success(content) }
        guard let body else { return nil }
        guard let model = type as? any (Decodable & Sendable).Type else {
            if type == ImageHeader.self { return image(body) }
            return .failure(
                RequestFailure(
                    .decoding, "\(type) cannot be read from a body, because it is not Decodable.",
                    remedy: "Make it Decodable, or add a transformer that creates it.",
                    host: url?.origin.host.text))
        }
        return decode(model, body, self.codecs ?? codecs)
    }

    private func image<Content: Sendable>(_ body: Data) -> Result<Content, RequestFailure> {
        do throws(RequestFailure) {
            guard !body.isEmpty else {
                throw RequestFailure(
                    .emptyBody, "The response with status \(head.status.code) has no body, but an image was requested.",
                    phase: .decoding)
            }
            // `Content` is `ImageHeader`, but the compiler does not know that.
            guard let content = try ImageHeader(body) as? Content else {
                throw RequestFailure(.decoding, "An image header is not \(Content.self).", phase: .decoding)
            }
            return .success(content)
        } catch {
            let failure = error.changed { content in
                content.host = url?.origin.host.text
                content.response = FailedResponse(head: head, body: body)
            }
            return .failure(url.map { failure.naming(method, $0.redacted) } ?? failure)
        }
    }

    private func decode<Content: Sendable, Model: Decodable & Sendable>(
        _ model: Model.Type, _ body: Data, _ codecs: CodecRegistry
    ) -> Result<Content, RequestFailure> {
        do throws(RequestFailure) {
            let decoded = try ModelReader(model, codecs: codecs).modelHere(
                from: body, contentType: contentType, .init(head: head, method: method, url: url))
            // `Model` is `Content`, but the compiler lost that with the conformance.
            guard let content = decoded as? Content else {
                return .failure(RequestFailure(.decoding, "\(model) is not \(Content.self)."))
            }
            return .success(content)
        } catch {
            return .failure(error)
        }
    }
}

/// A response after the pipeline, with its times.
struct LoadedResponse: Sendable {
    let result: PipelineResult
    let entity: Entity
    /// The freshness of the response.
    let content: FreshnessRules.Content
    /// The monotonic time until which it is fresh; `nil` if it never is.
    let freshUntil: Duration?

    /// Describes a response that has been received now.
    init(_ result: PipelineResult, _ rules: FreshnessRules, _ service: HTTPResourceService) {
        let (value, date) = (result.value, service.clock.date)
        self.result = result
        entity = value.entity(at: date)
        content = rules.content(with: value.head.headerFields, result.origin, at: service.time.now, date)
        freshUntil = rules.deadline(of: .content(content))
    }
}

/// The result of a pass through a pipeline.
struct PipelineResult: Sendable {
    let value: LoadedValue
    /// The entities that the caches at its stages store.
    let outputs: [StageCache.Output]
    /// The origin of the response.
    var origin = ResponseOrigin()
}

/// The origin of a response, as far as it matters for freshness, for the order, and for what may be stored.
struct ResponseOrigin: Sendable {
    /// Whether the request had credentials, so that the response may be for one account only. This is determined only
    /// for resources with caches.
    var isPersonal = false
    /// How a response cache has served the response; `nil` if the server has sent or confirmed it just now.
    var storedUse: StoredResponseUse?
    /// The numbers that a response cache has given to the response; `nil` if there is no such cache.
    var identity: ResponseIdentity?
    /// The time since the request was sent. It is measured only if the server decides how long content is fresh.
    var delay = Duration.zero
}

extension FreshnessRules {
    /// Describes the freshness of a response. Only the rule that follows the server reads the fields.
    ///
    /// - Parameters:
    ///   - fields: The fields of the response. For a 304, they are the content's fields after merging those of the 304.
    ///   - confirmation: The fields of that 304; `nil` for a response with content.
    ///   - time: The monotonic time at which it was received.
    ///   - date: The date at which it was received.
    func content(
        with fields: HTTPFields, confirmedBy confirmation: HTTPFields? = nil, _ origin: ResponseOrigin,
        at time: Duration, _ date: Date
    ) -> Content {
        let use = origin.storedUse
        var content = Content(time: time, age: use?.age ?? .zero, isStale: use?.isStale ?? false)
        guard isByServer else { return content }
        let freshness = Freshness(of: fields, confirmedBy: confirmation, at: date, delay: origin.delay)
        content.serverLifetime = freshness.lifetime
        // A response cache knows the age better than the fields. Without a lifetime, the application's lifetime begins
        // now.
        if use == nil, freshness.lifetime != nil { content.age = freshness.age }
        return content
    }
}
