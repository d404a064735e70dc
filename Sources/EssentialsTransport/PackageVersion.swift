/// The version of the package, of its tool (`essentials --version`) and in the field `User-Agent`.
///
/// It follows Semantic Versioning. A release is tagged with the same number.
package enum PackageVersion {
    package static let text = "0.1.0"
}
