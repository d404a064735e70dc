import ServiceEssentials

/// The JSON object that `essentials reachability --format json` prints for a status.
struct ReachabilityJSON: Encodable {
    private enum CodingKeys: CodingKey { case host, status, interface, error }
    private enum InterfaceKeys: CodingKey { case index, kind, name }
    private enum ErrorKeys: CodingKey { case code, text }

    /// The host given on the command line.
    let host: String?
    let status: ReachabilityStatus

    private var name: String {
        switch status {
        case .unknown: "unknown"
        case .unreachable: "unreachable"
        case .local: "local"
        case .direct: "direct"
        case .routed: "routed"
        }
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: CodingKeys.self)
        try object.encodeIfPresent(host, forKey: .host)
        try object.encode(name, forKey: .status)
        if let interface = status.interface {
            var nested = object.nestedContainer(keyedBy: InterfaceKeys.self, forKey: .interface)
            try nested.encode(interface.index, forKey: .index)
            try nested.encode(interface.kind.rawValue, forKey: .kind)
            try nested.encode(interface.name, forKey: .name)
        }
        if case .unreachable(let error) = status {
            var nested = object.nestedContainer(keyedBy: ErrorKeys.self, forKey: .error)
            try nested.encode(error.code, forKey: .code)
            try nested.encode(error.description, forKey: .text)
        }
    }

    /// The object on one line.
    var line: String { OneLine.json(self) }
}
