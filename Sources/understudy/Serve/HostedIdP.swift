import Control
import Crypto
import Encoding
import Engine
import Profiles
import ReferenceIdP
import Store
import Transport

/// Starts the reference IdPs of this process.
enum HostedIdP {
    /// The systems there are reference IdPs of.
    static let systems = ["sensecrypt"]

    /// What a reference IdP is made of.
    struct Plan: Sendable {
        /// The system it stands for.
        var system = "sensecrypt"
        /// Its place among the IdPs of the process, counted from 1: its records in the store go by it.
        var number = 1
        /// The issuers' port, with the API's behind it; 0 lets the system choose both.
        var port = 0
        /// The address to listen on.
        var bind = "127.0.0.1"
        /// Where its randomness comes from.
        var entropy = Entropy.system
        /// The wall clock its own clock stands on.
        var clock = WorldClock()
        /// The wire's names.
        var profile = SenseCryptProfile.builtIn
        /// Whose word about calling apps it takes.
        var trust = AttestationTrust()
    }

    /// Listens and answers; with a store it goes on where it ended.
    static func start(_ plan: Plan, store: Store?) async throws(CommandFailure) -> IdPService {
        var configuration = IdPService.Configuration()
        configuration.bind = plan.bind
        configuration.port = plan.port
        configuration.apiPort = plan.port == 0 ? 0 : plan.port + 1
        configuration.store = store
        configuration.name = plan.number == 1 ? plan.system : "\(plan.system)-\(plan.number)"
        configuration.entropy = plan.entropy
        configuration.profile = plan.profile
        configuration.clock = plan.clock
        configuration.attestationTrust = plan.trust
        do {
            return try await IdPService.start(configuration)
        } catch let error as TransportError {
            throw CommandFailure(error, option: "idp-port")
        } catch {
            throw CommandFailure(
                exit: .configuration, code: "idp_records", message: "the reference IdP does not start: \(error)")
        }
    }
}
