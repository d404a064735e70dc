public import EssentialsRequests
public import Foundation

extension ConstantEnvironment {
    /// Makes an environment from Foundation's URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public init(
        _ baseURL: URL, name: String = "", headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        self.init(
            EnvironmentSnapshot(
                name: name, baseURL: try RequestURL(baseURL), headerFields: headerFields, trust: trust))
    }
}

extension EnvironmentSnapshot {
    /// Makes an environment from Foundation's URL.
    ///
    /// - Throws: `invalidRequest` with what is wrong about the URL.
    public init(
        name: String = "", baseURL: URL, headerFields: HTTPFields = [:], trust: TrustPolicy? = nil
    ) throws(RequestFailure) {
        self.init(name: name, baseURL: try RequestURL(baseURL), headerFields: headerFields, trust: trust)
    }
}
