import Control
import Profiles

extension Settings {
    /// The wire's names: those of the file that was named, or the built-in ones.
    ///
    /// Throws where the file cannot be read or a value is missing or of another type.
    func profile() throws(CommandFailure) -> SenseCryptProfile {
        guard let profileFile else { return .builtIn }
        guard let document = PrivateFile.read(profileFile, limit: 1 << 20) else {
            throw CommandFailure(
                exit: .configuration, code: "profile", message: "--profile: cannot read \(profileFile)",
                field: "profile")
        }
        do throws(ProfileError) {
            return try SenseCryptProfile(json5: document)
        } catch {
            throw CommandFailure(
                exit: .badInput, code: error.code, message: "--profile: \(profileFile): \(error)", field: "profile")
        }
    }
}
