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
            throw error.failure(error.underlying?.reason ?? .invalidRequest, in: "“\(path)”")
        }
    }

    private struct Reader {
        let directory: String

        func file(_ json: LocatedJSON) throws(Fault) -> ([EnvironmentSnapshot], String?) {
            let object = try LocatedMembers(json, knows: ["current", "environments"])
            let environments = try object.need("environments") { value throws(Fault) in
                try value.members().map(environment)
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

        private func environment(_ json: LocatedJSON) throws(Fault) -> EnvironmentSnapshot {
            let object = try LocatedMembers(json, knows: ["baseURL", "headers", "trust"])
            let baseURL = try object.need("baseURL") { value throws(Fault) in
                let text = try value.text()
                return try value.located { () throws(RequestFailure) in try RequestURL(text) }
            }
            let fields = try object.take("headers", or: [:], fields)
            let trust = try object.take("trust", or: nil, trust)
            return EnvironmentSnapshot(name: json.name, baseURL: baseURL, headerFields: fields, trust: trust)
        }

        private func fields(_ json: LocatedJSON) throws(Fault) -> HTTPFields {
            var fields = HTTPFields()
            for member in try json.members() {
                for value in member.value.array == nil ? [member] : member.parts {
                    let text = try value.text()
                    let field = try value.located { () throws(RequestFailure) in
                        try HTTPField.checked(name: member.name, value: text)
                    }
                    fields.append(field)
                }
            }
            return fields
        }

        /// Reads a policy, or the path of a policy file.
        private func trust(_ json: LocatedJSON) throws(Fault) -> TrustPolicy? {
            guard json.value.string != nil else { return try PolicyReader(directory: directory).policy(json) }
            let path = try json.path(in: directory)
            return try json.located { () throws(RequestFailure) in try TrustPolicy(contentsOfFile: path) }
        }
    }
}
