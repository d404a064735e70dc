import EssentialsHTTP
import FoundationEssentials

/// Reads the JSON file that defines environments.
struct EnvironmentFile {
    private typealias Fault = LocatedJSON.Fault

    private static let maximumSize = 1 << 20

    let environments: [EnvironmentSnapshot]
    /// The name of the current environment; `nil` if the file names none.
    let current: String?

    init(path: String) throws(RequestFailure) {
        let data = try SmallFile.read(path, upTo: Self.maximumSize, for: "environments", tooLong: .invalidRequest)
        guard let text = String(validating: data, as: UTF8.self) else {
            throw RequestFailure(.invalidRequest, "“\(path)” is not UTF-8 text.", remedy: "Save it as UTF-8.")
        }
        let reader = Reader(directory: URL(filePath: path).deletingLastPathComponent().path)
        do throws(LocatedJSON.Fault) {
            (environments, current) = try reader.file(LocatedJSON(text))
        } catch {
            if let file = error.underlying, file.reason == .file { throw file }
            throw RequestFailure(
                error.underlying?.reason ?? .invalidRequest, "“\(path)”, line \(error.line): \(error.text)",
                remedy: error.underlying?.remedy ?? "Correct the line.", underlying: error.underlying)
        }
    }

    private struct Reader {
        let directory: String

        func file(_ json: LocatedJSON) throws(Fault) -> ([EnvironmentSnapshot], String?) {
            let object = try LocatedMembers(json, knows: ["current", "environments"])
            let environments = try object.need("environments") { value throws(Fault) in
                guard case .object(let members) = value.value else { throw value.wrong(expected: "an object") }
                return try members.map { member throws(Fault) in
                    try self.environment(member.value, name: member.name)
                }
            }
            let current = try object.take("current", or: nil) { value throws(Fault) -> String? in
                let name = try value.text()
                guard environments.contains(where: { $0.name == name }) else {
                    throw value.wrong(expected: "the name of one of the environments")
                }
                return name
            }
            return (environments, current)
        }

        private func environment(_ json: LocatedJSON, name: String) throws(Fault) -> EnvironmentSnapshot {
            let object = try LocatedMembers(json, knows: ["baseURL", "headers", "trust"])
            let baseURL = try object.need("baseURL") { value throws(Fault) in
                let text = try value.text()
                return try Self.located(value.line) { () throws(RequestFailure) in try RequestURL(text) }
            }
            let fields = try object.take("headers", or: [:]) { value throws(Fault) in try self.fields(value) }
            let trust = try object.take("trust", or: nil) { value throws(Fault) -> TrustPolicy? in
                try self.trust(value)
            }
            return EnvironmentSnapshot(name: name, baseURL: baseURL, headerFields: fields, trust: trust)
        }

        private func fields(_ json: LocatedJSON) throws(Fault) -> HTTPFields {
            guard case .object(let members) = json.value else { throw json.wrong(expected: "an object") }
            var fields = HTTPFields()
            for member in members {
                var values = [member.value]
                if case .array(let elements) = member.value.value { values = elements }
                for value in values {
                    let text = try value.text()
                    let field = try Self.located(value.line) { () throws(RequestFailure) in
                        try HTTPField.checked(name: member.name, value: text)
                    }
                    fields.append(field)
                }
            }
            return fields
        }

        /// Reads a policy, or the path of a policy file.
        private func trust(_ json: LocatedJSON) throws(Fault) -> TrustPolicy {
            guard case .string(let path) = json.value else {
                return try PolicyReader(directory: directory).policy(json)
            }
            let whole = path.utf8.first == UInt8(ascii: "/") ? path : directory + "/" + path
            return try Self.located(json.line) { () throws(RequestFailure) in
                try TrustPolicy(contentsOfFile: whole)
            }
        }

        private static func located<Value>(
            _ line: Int, _ body: () throws(RequestFailure) -> Value
        ) throws(Fault) -> Value {
            do throws(RequestFailure) {
                return try body()
            } catch {
                throw Fault(line: line, text: error.message, underlying: error)
            }
        }
    }
}
