import FoundationEssentials

@testable import EssentialsHTTP

/// Requests and stored responses for the tests of the cache's rules. All times are seconds after one moment.
enum CacheFixtures {
    /// Sun, 06 Nov 1994 08:49:37 GMT
    static let start = Date(timeIntervalSince1970: 784_111_777)
    static let dateText = "Sun, 06 Nov 1994 08:49:37 GMT"

    static func at(_ seconds: Double) -> CacheMoment { moment(seconds, running: 1_000 + seconds) }

    /// A moment with its time after the start of the machine.
    static func moment(_ seconds: Double, running: Double, boot: Int = 7) -> CacheMoment {
        CacheMoment(date: start + seconds, boot: BootTime(boot: "boot \(boot)", elapsed: .seconds(running)))
    }

    static func date(_ seconds: Double) -> String { HTTPDate.text(of: start + seconds) }

    static func head(
        _ fields: HTTPFields, status: Int = 200, selection: VarySelection = .empty, age: Int = 0,
        at seconds: Double = 0,
        isUnpacked: Bool = false, options: CacheOptions = CacheOptions()
    ) -> StoredHead {
        StoredHead(
            status: HTTPResponse.Status(code: status), fields: fields, selection: selection, age: .seconds(age),
            moment: at(seconds), isUnpacked: isUnpacked, options: options)
    }

    static func selection(_ members: [(HTTPField.Name, String?)]) -> VarySelection {
        VarySelection(members.map { VarySelection.Member(name: $0.0, value: $0.1) })
    }

    static func url(_ target: String = "/") -> RequestURL {
        (try? RequestURL("https://a.example\(target)")) ?? .nowhere
    }

    static func request(
        _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get, policy: CachePolicy = .standard,
        decompresses: Bool = true, fieldToCome: @escaping (HTTPField.Name) -> String? = { _ in nil }
    ) -> CacheRequest {
        CacheRequest(
            method: method, url: url("/dir/file"), fields: fields, policy: policy, decompresses: decompresses,
            fieldToCome: fieldToCome)
    }

    static func response(_ status: Int, _ fields: HTTPFields) -> HTTPResponse {
        HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    }

    /// What the cache does with a request at a time.
    static func answer(
        _ request: CacheRequest, _ stored: [StoredHead], at seconds: Double = 0,
        _ options: CacheOptions = CacheOptions()
    ) -> CacheAnswer {
        CacheRules.answer(to: request, stored: stored, now: at(seconds), options: options)
    }

    static func answer(
        _ stored: [StoredHead], at seconds: Double = 0, _ options: CacheOptions = CacheOptions()
    ) -> CacheAnswer { answer(request(), stored, at: seconds, options) }

    /// What the cache does with a response that arrives at a time, a second after the request.
    static func disposition(
        _ response: HTTPResponse, to request: CacheRequest = request(), conditions: HTTPFields = [:],
        stored: [StoredHead] = [], at seconds: Double = 0, isUnpacked: Bool = false,
        _ options: CacheOptions = CacheOptions()
    ) -> CacheDisposition {
        CacheRules.disposition(
            of: response, to: request, conditions: conditions, stored: stored, requestedAt: at(seconds - 1),
            now: at(seconds), sent: { request.value(of: $0) }, isUnpacked: isUnpacked, options: options)
    }
}

/// The kind of an answer, for tables.
enum AnswerKind: String, Sendable { case serve, stale, background, notModified, part, validate, forward, unavailable }

extension StoredHead {
    /// The fields of a response that is made of the head.
    func servedFields(at now: CacheMoment, isValidated: Bool) -> HTTPFields {
        TransportResponse(
            status, stored: fields(isValidated: isValidated), age: use(at: now).servedAge, body: ResponseBody(Data())
        ).headerFields
    }
}

extension CacheAnswer {
    var kind: AnswerKind {
        switch self {
        case .serve(_, let use): use.kind == .fresh ? .serve : .stale
        case .serveAndValidate: .background
        case .notModified: .notModified
        case .part: .part
        case .validate: .validate
        case .forward: .forward
        case .unavailable: .unavailable
        }
    }

    var conditions: HTTPFields? { if case .validate(let conditions, _, _) = self { conditions } else { nil } }

    var fallback: Int? {
        switch self {
        case .validate(_, _, let fallback), .forward(_, let fallback): fallback
        default: nil
        }
    }

    var reason: ForwardReason? { if case .forward(let reason, _) = self { reason } else { nil } }

    var index: Int? {
        switch self {
        case .serve(let index, _), .serveAndValidate(let index, _), .notModified(let index, _): index
        default: nil
        }
    }
}

extension CacheDisposition {
    var stored: StoredHead? { if case .store(let head, _) = self { head } else { nil } }
    var replaced: Int? { if case .store(_, let index) = self { index } else { nil } }
    var freshened: (index: Int, head: StoredHead)? {
        if case .freshen(let index, let head) = self { (index, head) } else { nil }
    }
    var reason: NotStoredReason? { if case .pass(let reason) = self { reason } else { nil } }
}
