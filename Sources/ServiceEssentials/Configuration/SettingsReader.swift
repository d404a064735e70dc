#if Server || Inspector
    import Configuration
    import EssentialsHTTP
    import EssentialsTools
    import EssentialsTransport
    import Glibc

    /// Reads and checks the values of ``ConfigurationKey``s.
    struct SettingsReader {
        /// A limit of time, which can be absent.
        enum TimeLimit { case unlimited, limited(Duration) }

        private let reader: ConfigReader
        /// The environment that `NAME` in a key stands for.
        private let environment: String
        /// Whether the program is run by a server for one request.
        private let isCGI: Bool

        init(
            _ reader: ConfigReader, environment: String = "", isCGI: Bool = getenv("GATEWAY_INTERFACE") != nil
        ) { (self.reader, self.environment, self.isCGI) = (reader, environment, isCGI) }

        // MARK: Values

        func text(_ key: ConfigurationKey) throws(RequestFailure) -> String? {
            try value(key, "text") { try reader.requiredString(forKey: $0, isSecret: key.isSecret) }
        }

        func list(_ key: ConfigurationKey) throws(RequestFailure) -> [String]? {
            try value(key, "list") { try reader.requiredStringArray(forKey: $0, isSecret: key.isSecret) }
        }

        func number(_ key: ConfigurationKey, in range: ClosedRange<Int>) throws(RequestFailure) -> Int? {
            let number = try value(key, "whole number") { try reader.requiredInt(forKey: $0, isSecret: key.isSecret) }
            guard let number, !range.contains(number) else { return number }
            throw wrong(
                key, "“\(number)” is out of range", "Write a number from \(range.lowerBound) to \(range.upperBound).")
        }

        func flag(_ key: ConfigurationKey) throws(RequestFailure) -> Bool? {
            try value(key, "true or false") { try reader.requiredBool(forKey: $0, isSecret: key.isSecret) }
        }

        /// A value of one of some names.
        func choice<Value>(_ key: ConfigurationKey, _ values: [String: Value]) throws(RequestFailure) -> Value? {
            guard let text = try text(key) else { return nil }
            if let value = values[text] { return value }
            throw wrong(
                key, "“\(RequestFailure.shown(text))” is unknown",
                "Write \(values.keys.sorted().joined(separator: " or ")).")
        }

        /// A text that a type reads.
        func value<Value>(
            _ key: ConfigurationKey, _ make: (String) throws(RequestFailure) -> Value
        ) throws(RequestFailure) -> Value? {
            guard let text = try text(key) else { return nil }
            do throws(RequestFailure) {
                return try make(text)
            } catch {
                throw wrong(key, error.message, error.remedy ?? "Correct the value.", error)
            }
        }

        func url(_ key: ConfigurationKey) throws(RequestFailure) -> RequestURL? {
            try value(key) { text throws(RequestFailure) in try RequestURL(text) }
        }

        func bytes(_ key: ConfigurationKey) throws(RequestFailure) -> Int? {
            guard let text = try quantity(key) else { return nil }
            if let bytes = WrittenQuantity.bytes(text) { return bytes }
            throw wrong(
                key, "“\(RequestFailure.shown(text))” is no number of bytes", "Write it as 4096, 64k, 10M or 1G.")
        }

        func time(_ key: ConfigurationKey) throws(RequestFailure) -> Duration? {
            guard let text = try quantity(key) else { return nil }
            if let duration = WrittenQuantity.duration(text) { return duration }
            throw wrong(key, "“\(RequestFailure.shown(text))” is no time", "Write it as 300ms, 5s, 2m or 1h.")
        }

        /// A limit of time, or `none`.
        func limit(_ key: ConfigurationKey) throws(RequestFailure) -> TimeLimit? {
            if reader.string(forKey: configKey(key), isSecret: key.isSecret) == "none" { return .unlimited }
            return try time(key).map { .limited($0) }
        }

        /// A number that may be a text with a unit, or a number of a JSON file.
        private func quantity(_ key: ConfigurationKey) throws(RequestFailure) -> String? {
            try checkNotOfClient(key)
            let configKey = configKey(key)
            if let text = reader.string(forKey: configKey) { return text }
            if let number = reader.int(forKey: configKey) { return "\(number)" }
            if let number = reader.double(forKey: configKey) { return "\(number)" }
            return try text(key)
        }

        // MARK: Failures

        /// The failure of a value, which names the key and the name of the value at its source, such as that of a variable.
        func wrong(
            _ key: ConfigurationKey, _ what: String, _ remedy: String, _ cause: RequestFailure? = nil
        ) -> RequestFailure {
            let name = configKey(key).description
            let source = nameAtSource(key).map { $0 == name ? "" : ", from \($0)," } ?? ""
            let text = what.hasSuffix(".") ? String(what.dropLast()) : what
            return RequestFailure(
                cause?.reason ?? .invalidRequest, "The setting “\(name)”\(source) is wrong: \(text).", remedy: remedy,
                underlying: cause)
        }

        /// The failure of a value that is missing.
        func missing(_ key: ConfigurationKey) -> RequestFailure {
            RequestFailure(
                .invalidRequest, "The setting “\(configKey(key))” is missing.",
                remedy: "Set it in a file, as a variable or as an argument, as \(reader) reads them.")
        }

        /// Refuses a variable that a client of this program can set: a CGI program has the header fields of its request as variables
        /// `HTTP_…` (RFC 3875, 4.1.18).
        private func checkNotOfClient(_ key: ConfigurationKey) throws(RequestFailure) {
            guard isCGI, let name = nameAtSource(key), name.hasPrefix("HTTP_") else { return }
            throw RequestFailure(
                .invalidRequest, "The variable \(name) of a CGI program comes from its client.",
                remedy: "Read the settings with “reader.scoped(to:)”, so that their variables have another beginning.")
        }

        private func configKey(_ key: ConfigurationKey) -> ConfigKey {
            ConfigKey(key.name.replacing("NAME", with: environment))
        }

        /// The value; `nil` if there is none.
        private func value<Value>(
            _ key: ConfigurationKey, _ kind: String, _ read: (ConfigKey) throws -> Value
        ) throws(RequestFailure) -> Value? {
            try checkNotOfClient(key)
            do {
                return try read(configKey(key))
            } catch {
                guard isPresent(key, error) else { return nil }
                throw wrong(key, "the value is no \(kind)", "Correct it.")
            }
        }

        /// Whether there is a value of any kind. The reader's errors have no public type.
        private func isPresent(_ key: ConfigurationKey, _ error: any Error) -> Bool {
            let name = configKey(key)
            return !"\(error)".contains("Missing required")
                || reader.string(forKey: name, isSecret: key.isSecret) != nil
                || reader.double(forKey: name, isSecret: key.isSecret) != nil
                || reader.bool(forKey: name, isSecret: key.isSecret) != nil
        }

        /// The name of the value at its source. Only the reader's error for a value of a wrong kind tells it, and no value is a
        /// number, a flag and Base64 at once.
        private func nameAtSource(_ key: ConfigurationKey) -> String? {
            let reads: [(ConfigKey) throws -> Void] = [
                { _ = try reader.requiredInt(forKey: $0, isSecret: key.isSecret) },
                { _ = try reader.requiredBool(forKey: $0, isSecret: key.isSecret) },
                { _ = try reader.requiredBytes(forKey: $0, isSecret: key.isSecret) },
            ]
            for read in reads {
                do { try read(configKey(key)) } catch {
                    let parts = "\(error)".split(separator: "'", omittingEmptySubsequences: false)
                    if parts.count >= 3 { return String(parts[1]) }
                }
            }
            return nil
        }
    }
#endif
