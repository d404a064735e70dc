#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Converts the JSON of a policy file to a trust policy.
package struct PolicyReader {
    package typealias Fault = LocatedJSON.Fault

    /// The directory for relative file names.
    private let directory: String

    package init(directory: String) { self.directory = directory }

    package func policy(_ json: LocatedJSON) throws(Fault) -> TrustPolicy {
        let object = try LocatedMembers(
            json,
            knows: ["anchors", "minimumTLS", "unlistedHosts", "revocation", "identity", "hosts"])
        let anchors = try object.take("anchors", or: .system, anchors)
        let minimumTLS = try object.take("minimumTLS", or: .tls12) { value throws(Fault) in
            try Self.choice(value, ["1.2": TLSVersion.tls12, "1.3": .tls13])
        }
        let unlisted = try object.take("unlistedHosts", or: .anchorsOnly) { value throws(Fault) in
            if value.value.object != nil {
                return TrustPolicy.UnlistedHosts.pinned(try self.pinSet(value, host: nil))
            }
            return try Self.choice(value, ["anchorsOnly": .anchorsOnly, "refused": .refused])
        }
        let revocation = try object.take("revocation", or: .none, revocation)
        let identity = try object.take("identity", or: nil, identity)
        let hosts = try object.take("hosts", or: []) { value throws(Fault) in try Self.array(value).map(rule) }
        return try json.located { () throws(RequestFailure) in
            try TrustPolicy(
                hosts: hosts, unlistedHosts: unlisted, anchors: anchors, minimumTLS: minimumTLS,
                revocation: revocation, identity: identity)
        }
    }

    // MARK: Hosts

    private func rule(_ json: LocatedJSON) throws(Fault) -> HostRule {
        let object = try LocatedMembers(
            json, knows: ["host", "pins", "mode", "expires", "onExpiry", "singlePin", "unpinned"])
        let pattern = try object.need("host") { value throws(Fault) in
            let text = try value.text()
            return try value.located { () throws(RequestFailure) in try HostPattern(text) }
        }
        let isUnpinned = try object.take("unpinned", or: false, Self.bool)
        if isUnpinned {
            for name in ["pins", "mode", "expires", "onExpiry", "singlePin"] where object.members[name] != nil {
                throw Fault(line: json.line, text: "The rule is “unpinned” and has “\(name)”.")
            }
            return HostRule(pattern: pattern, pins: nil)
        }
        return HostRule(pattern: pattern, pins: try pinSet(json, host: pattern))
    }

    private func pinSet(_ json: LocatedJSON, host: HostPattern?) throws(Fault) -> PinSet {
        let names = ["pins", "mode", "expires", "onExpiry", "singlePin"]
        let object = try LocatedMembers(json, knows: host == nil ? names : names + ["host", "unpinned"])
        let pins = try object.need("pins") { value throws(Fault) in try Self.array(value).map(pin) }
        let mode = try object.take("mode", or: .enforce) { value throws(Fault) in
            try Self.choice(value, ["enforce": PinSet.Mode.enforce, "reportOnly": .reportOnly])
        }
        let acceptsSinglePin = try object.take("singlePin", or: false, Self.bool)
        let expires = try object.take("expires", or: nil, Self.date)
        let onExpiry = try object.take("onExpiry", or: .anchorsOnly) { value throws(Fault) in
            try Self.choice(value, ["anchorsOnly": PinSet.ExpiryAction.anchorsOnly, "refuse": .refuse])
        }
        return try json.located { () throws(RequestFailure) in
            try PinSet(pins, mode: mode, acceptsSinglePin: acceptsSinglePin, expires: expires, onExpiry: onExpiry)
        }
    }

    private func pin(_ json: LocatedJSON) throws(Fault) -> Pin {
        if let text = json.value.string {
            return try json.located { () throws(RequestFailure) in try .publicKey(text) }
        }
        let object = try LocatedMembers(json, knows: ["publicKey", "certificate", "scope"])
        let scope = try object.take("scope", or: .any) { value throws(Fault) in
            try Self.choice(value, ["any": Pin.Scope.any, "leaf": .leaf, "issuer": .issuer])
        }
        guard (object.members["publicKey"] == nil) != (object.members["certificate"] == nil) else {
            throw Fault(line: json.line, text: "A pin has either “publicKey” or “certificate”.")
        }
        let isKey = object.members["publicKey"] != nil
        return try object.need(isKey ? "publicKey" : "certificate") { value throws(Fault) in
            let text = try value.text()
            return try value.located { () throws(RequestFailure) in
                isKey ? try .publicKey(text, scope: scope) : try .certificate(text, scope: scope)
            }
        }
    }

    // MARK: Files

    private func anchors(_ json: LocatedJSON) throws(Fault) -> TrustAnchors {
        if json.value.object != nil { return try combinedAnchors(json) }
        if json.value.array != nil {
            let files = try files(json)
            return try json.located { () throws(RequestFailure) in try .only(files) }
        }
        return try Self.choice(json, ["system": .system])
    }

    private func combinedAnchors(_ json: LocatedJSON) throws(Fault) -> TrustAnchors {
        let object = try LocatedMembers(json, knows: ["system", "files", "ignoresEnvironment"])
        let system = try object.take("system", or: false, Self.bool)
        let ignores = try object.take("ignoresEnvironment", or: false, Self.bool)
        let anchors: TrustAnchors
        if system, object.members["files"] == nil {
            anchors = .system
        } else {
            let files = try object.need("files", self.files)
            anchors = try json.located { () throws(RequestFailure) in
                system ? try .systemAnd(files) : try .only(files)
            }
        }
        return ignores ? anchors.ignoringEnvironment : anchors
    }

    private func revocation(_ json: LocatedJSON) throws(Fault) -> Revocation {
        if json.value.object != nil {
            return .lists(try LocatedMembers(json, knows: ["lists"]).need("lists", files))
        }
        return try Self.choice(
            json,
            ["none": .none, "stapled": .stapled(isRequired: false), "requireStaple": .stapled(isRequired: true)])
    }

    private func identity(_ json: LocatedJSON) throws(Fault) -> ClientIdentity? {
        let object = try LocatedMembers(json, knows: ["certificate", "key"])
        let certificate = try object.need("certificate", file)
        let key = try object.need("key", file)
        return try json.located { () throws(RequestFailure) in
            try ClientIdentity(certificate: certificate, privateKey: key)
        }
    }

    private func files(_ json: LocatedJSON) throws(Fault) -> [PEM] {
        try Self.array(json).map(file)
    }

    private func file(_ json: LocatedJSON) throws(Fault) -> PEM {
        let path = try json.path(in: directory)
        return try json.located { () throws(RequestFailure) in try PEM(contentsOfFile: path) }
    }

    // MARK: Values

    private static func bool(_ json: LocatedJSON) throws(Fault) -> Bool {
        guard let flag = json.value.boolean else { throw json.wrong(expected: "true or false") }
        return flag
    }

    private static func array(_ json: LocatedJSON) throws(Fault) -> [LocatedJSON] {
        guard json.value.array != nil else { throw json.wrong(expected: "an array") }
        return json.parts
    }

    private static func choice<Value>(_ json: LocatedJSON, _ choices: [String: Value]) throws(Fault) -> Value {
        let names = choices.keys.sorted().map { "“\($0)”" }.joined(separator: ", ")
        guard let value = json.value.string.flatMap({ choices[$0] }) else {
            throw json.wrong(expected: choices.count == 1 ? names : "one of \(names)")
        }
        return value
    }

    /// A date (RFC 3339, full-date), which stands for its first moment in UTC.
    private static func date(_ json: LocatedJSON) throws(Fault) -> Date? {
        let text = try json.text()
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isShaped = parts.map(\.utf8.count) == [4, 2, 2] && parts.allSatisfy { $0.utf8.allSatisfy(\.isASCIIDigit) }
        guard isShaped, let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]) else {
            throw json.wrong(expected: "a date such as “2030-01-31”")
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(year: year, month: month, day: day)
        guard let date = calendar.date(from: components),
            calendar.dateComponents([.year, .month, .day], from: date)
                == DateComponents(year: year, month: month, day: day)
        else { throw json.wrong(expected: "a date that exists") }
        return date
    }
}
