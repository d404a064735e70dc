/// The version of the package. `essentials --version` and the field `User-Agent` show it.
///
/// It follows Semantic Versioning. A release is tagged with the same number.
package enum PackageVersion {
    package static let text = "0.1.0"
}
