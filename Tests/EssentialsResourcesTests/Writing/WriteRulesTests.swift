import EssentialsHTTP
import Testing

@testable import EssentialsResources

@Suite("Write rules")
struct WriteRulesTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let status: Int
        let fields: HTTPFields
        let hasBody: Bool
        let options: Set<Option>
        let effect: WriteRules.Effect

        enum Option: Sendable { case asks, elsewhere, partial, redirected }

        init(
            _ method: HTTPRequest.Method, _ status: Int, _ effect: WriteRules.Effect, _ fields: HTTPFields = [:],
            body: Bool = false, options: Set<Option> = []
        ) {
            (self.method, self.status, self.fields) = (method, status, fields)
            (self.hasBody, self.options, self.effect) = (body, options, effect)
        }

        var testDescription: String {
            let names = fields.map { "\($0.name): \($0.value)" }
            return "\(method) \(status) \(names) body \(hasBody) \(options) is \(effect)"
        }
    }

    private static let own: HTTPFields = [.contentLocation: "self"]
    private static let other: HTTPFields = [.contentLocation: "other"]
    private static let tag: HTTPFields = [.eTag: "\"1\""]
    private static let date: HTTPFields = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]

    private static func applied(_ value: String) throws -> HTTPFields {
        [try #require(HTTPField.Name("Preference-Applied")): value]
    }

    @Test(
        "The method, the status and the fields of a response determine the effect on the content",
        arguments: [
            // The new representation is in the response.
            Vector(.put, 200, .representation, own, body: true),
            Vector(.put, 201, .representation, own, body: true),
            Vector(.patch, 200, .representation, own, body: true),
            Vector(.patch, 200, .representation, body: true, options: [.asks]),
            Vector(.put, 201, .representation, body: true, options: [.asks]),
            // It is that of another URL, or a report about the write, or there is none.
            Vector(.put, 200, .sent(isFresh: false), other, body: true, options: [.asks]),
            Vector(.patch, 200, .outdated, other, body: true),
            Vector(.put, 200, .sent(isFresh: true), tag, body: true),
            Vector(.patch, 200, .outdated, tag, body: true),
            Vector(.put, 200, .sent(isFresh: false), own, body: false),
            Vector(.put, 204, .sent(isFresh: false), own, body: false, options: [.asks]),
            Vector(.put, 203, .sent(isFresh: false), own, body: true),
            // A validator means that the sent content was stored unchanged.
            Vector(.put, 204, .sent(isFresh: true), tag),
            Vector(.put, 204, .sent(isFresh: true), date),
            Vector(.put, 201, .sent(isFresh: true), tag),
            Vector(.put, 204, .sent(isFresh: false)),
            Vector(.put, 205, .sent(isFresh: false)),
            Vector(.put, 204, .outdated, tag, options: [.partial]),
            // After a redirect the fields are those of another URL.
            Vector(.put, 200, .sent(isFresh: false), tag, body: true, options: [.asks, .redirected]),
            Vector(.put, 200, .representation, own, body: true, options: [.redirected]),
            Vector(.patch, 200, .outdated, tag, body: true, options: [.asks, .redirected]),
            Vector(.delete, 200, .deleted, body: true, options: [.redirected]),
            // The content is not known in full.
            Vector(.patch, 204, .outdated, tag),
            Vector(.patch, 204, .outdated),
            Vector(.post, 200, .outdated, own, body: true, options: [.asks]),
            Vector(.post, 201, .outdated, [.location: "/orders/1"], body: true),
            Vector(.post, 204, .outdated),
            Vector(.put, 202, .outdated, tag),
            Vector(.put, 207, .outdated, tag, body: true),
            Vector(.delete, 202, .outdated),
            Vector(.connect, 200, .outdated, own, body: true),
            // Another URL was written.
            Vector(.put, 200, .outdated, own, body: true, options: [.elsewhere]),
            Vector(.delete, 204, .outdated, options: [.elsewhere]),
            Vector(.delete, 404, .failed, options: [.elsewhere]),
            // The resource is gone.
            Vector(.delete, 200, .deleted, body: true),
            Vector(.delete, 204, .deleted),
            Vector(.delete, 404, .deleted),
            Vector(.delete, 410, .deleted),
            // Nothing was carried out.
            Vector(.put, 404, .failed),
            Vector(.patch, 412, .failed),
            Vector(.post, 303, .failed, [.location: "/orders/1"]),
            Vector(.delete, 403, .failed),
            Vector(.put, 304, .failed),
            Vector(.put, 500, .failed, own, body: true),
        ])
    func effects(vector: Vector) {
        let rules = WriteRules(
            method: vector.method, isOfResource: !vector.options.contains(.elsewhere),
            asksForContent: vector.options.contains(.asks),
            isPartial: vector.options.contains(.partial))
        let head = HTTPResponse(status: .init(code: vector.status), headerFields: vector.fields)
        let effect = rules.effect(head, hasBody: vector.hasBody) {
            vector.options.contains(.redirected)
        } namesTarget: {
            $0 == "self"
        }
        #expect(effect == vector.effect)
    }

    @Test(
        "A response that says that it is minimal is not the requested representation",
        arguments: [
            ("return=minimal", false), ("respond-async, Return = \"minimal\"", false),
            ("return=representation", true), ("wait=10", true),
        ])
    func minimal(value: String, isRepresentation: Bool) throws {
        let rules = WriteRules(method: .patch, asksForContent: true)
        let head = HTTPResponse(status: .ok, headerFields: try Self.applied(value))
        let effect = rules.effect(head, hasBody: true, isRedirected: { false }, namesTarget: { _ in false })
        #expect(effect == (isRepresentation ? .representation : .outdated))
    }
}
