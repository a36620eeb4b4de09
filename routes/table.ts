// Every route of the service, in order. Read this first.
import {
  billingSchema,
  identitySchema,
  organizationDefaultsSchema,
} from '../actors/catalog/document.ts';
import { removeAppError } from './admin/app/delete-error.ts';
import { removeFeedback } from './admin/app/delete-feedback.ts';
import { removeInstallation } from './admin/app/delete-installation.ts';
import { getAppError } from './admin/app/get-error.ts';
import { getAdminSocialProfiles } from './admin/app/get-social-profiles.ts';
import { listActivity } from './admin/app/list-activity.ts';
import { listAdminErrors } from './admin/app/list-errors.ts';
import { listAdminFeedback } from './admin/app/list-feedback.ts';
import { listAdminInstallations } from './admin/app/list-installations.ts';
import { putAdminSocialProfiles } from './admin/app/put-social-profiles.ts';
import { updateAppError } from './admin/app/update-error.ts';
import { updateFeedback } from './admin/app/update-feedback.ts';
import { listAudit } from './admin/audit/list-events.ts';
import { identityResource } from './admin/catalog/identity-resources.ts';
import { getOnlyRecord, putOnlyRecord } from './admin/catalog/only-record.ts';
import { organizationDefaultsResource } from './admin/catalog/organization-resources.ts';
import { billingResource } from './admin/catalog/promotion-resources.ts';
import { renewSecret } from './admin/catalog/renew-secret.ts';
import { catalogRoutes } from './admin/catalog/routes.ts';
import { testPaymentProvider } from './admin/catalog/test-payment-provider.ts';
import { testProvider } from './admin/catalog/test-provider.ts';
import { testSurface } from './admin/catalog/test-surface.ts';
import { getMail } from './admin/mail/get-mail.ts';
import { sendTestMail } from './admin/mail/send-test.ts';
import { createNotice } from './admin/notices/create-notice.ts';
import { removeNotice } from './admin/notices/delete-notice.ts';
import { getNotice } from './admin/notices/get-notice.ts';
import { listAdminNotices } from './admin/notices/list-notices.ts';
import { updateNotice } from './admin/notices/update-notice.ts';
import { getAnyPurchase } from './admin/purchases/get-purchase.ts';
import { listAnomalies } from './admin/purchases/list-anomalies.ts';
import { listPurchaseEvents } from './admin/purchases/list-events.ts';
import { listAllPurchases } from './admin/purchases/list-purchases.ts';
import { recheckPurchase } from './admin/purchases/recheck-purchase.ts';
import { refundPurchase } from './admin/purchases/refund-purchase.ts';
import { createRelease } from './admin/releases/create-release.ts';
import { removeRelease } from './admin/releases/delete-release.ts';
import { getRelease } from './admin/releases/get-release.ts';
import { listAdminReleases } from './admin/releases/list-releases.ts';
import { putArchive } from './admin/releases/put-archive.ts';
import { updateRelease } from './admin/releases/update-release.ts';
import { listAllSubmissions } from './admin/rewards/list-submissions.ts';
import { reviewSubmission } from './admin/rewards/review.ts';
import { adminStatus } from './admin/status.ts';
import { createUser } from './admin/users/create-user.ts';
import { createUserKey } from './admin/users/create-user-key.ts';
import { deleteUser, restoreUser } from './admin/users/delete-user.ts';
import { getUser } from './admin/users/get-user.ts';
import { listUserAuthorizations } from './admin/users/list-authorizations.ts';
import { listUserSessions } from './admin/users/list-sessions.ts';
import { listUserKeys } from './admin/users/list-user-keys.ts';
import { listUsers } from './admin/users/list-users.ts';
import { restrictBilling } from './admin/users/restrict-billing.ts';
import { revokeUserKey } from './admin/users/revoke-user-key.ts';
import { signOutUser } from './admin/users/sign-out.ts';
import { disableUser, enableUser } from './admin/users/switch-user.ts';
import { updateUser } from './admin/users/update-user.ts';
import { updateUserKey } from './admin/users/update-user-key.ts';
import { failJob } from './admin/video-jobs/fail-job.ts';
import { getAnyJob } from './admin/video-jobs/get-job.ts';
import { listAllJobs } from './admin/video-jobs/list-jobs.ts';
import { debitWallet } from './admin/wallets/debit-wallet.ts';
import { getWallet } from './admin/wallets/get-wallet.ts';
import { grantCredits } from './admin/wallets/grant-credits.ts';
import { listLedger } from './admin/wallets/list-ledger.ts';
import { listWallets } from './admin/wallets/list-wallets.ts';
import { revokeGrant } from './admin/wallets/revoke-grant.ts';
import { changePassword } from './app/auth/change-password.ts';
import { confirmReset } from './app/auth/confirm-reset.ts';
import { getAppSession } from './app/auth/get-session.ts';
import { logOutApp } from './app/auth/log-out.ts';
import { login } from './app/auth/login.ts';
import { register } from './app/auth/register.ts';
import { resetPassword } from './app/auth/reset-password.ts';
import { sendEmailCode } from './app/auth/send-email-code.ts';
import { verifyEmail } from './app/auth/verify-email.ts';
import { giveFeedback } from './app/give-feedback.ts';
import { listNotifications } from './app/list-notifications.ts';
import { readNotifications } from './app/read-notifications.ts';
import { tellActivity } from './app/tell-activity.ts';
import { tellError } from './app/tell-error.ts';
import { tellInstallation } from './app/tell-installation.ts';
import { createSpeech } from './audio/create-speech.ts';
import { createTranscription } from './audio/create-transcription.ts';
import { billingExport } from './billing/export.ts';
import { getSettings } from './billing/get-settings.ts';
import { billingLedger } from './billing/ledger.ts';
import { billingSummary } from './billing/summary.ts';
import { updateSettings } from './billing/update-settings.ts';
import { createChatCompletion } from './chat/create-completion.ts';
import { dashboard } from './dashboard.ts';
import type { AppRoute } from './define.ts';
import { catalog } from './discovery/catalog.ts';
import { health } from './discovery/health.ts';
import { modelStatus } from './discovery/model-status.ts';
import { publicModels } from './discovery/public-models.ts';
import { socialProfiles } from './discovery/social-profiles.ts';
import { cancelGeneration } from './generations/cancel-generation.ts';
import { getGeneration } from './generations/get-generation.ts';
import { getBrowserSession } from './identity/get-session.ts';
import { logOutBrowser } from './identity/log-out.ts';
import { requestCode } from './identity/request-code.ts';
import { verifyCode } from './identity/verify-code.ts';
import { createKey } from './keys/create-key.ts';
import { listKeys } from './keys/list-keys.ts';
import { revokeKey } from './keys/revoke-key.ts';
import { rotateKey } from './keys/rotate-key.ts';
import { updateKey } from './keys/update-key.ts';
import { createLegacyResponse } from './llm/create-response.ts';
import { changeEmail } from './me/account/change-email.ts';
import { createExport } from './me/account/create-export.ts';
import { deleteAccount } from './me/account/delete-account.ts';
import { getAccount } from './me/account/get-account.ts';
import { getArchive } from './me/account/get-archive.ts';
import { getExport } from './me/account/get-export.ts';
import { updateAccount } from './me/account/update-account.ts';
import { verifyNewEmail } from './me/account/verify-email.ts';
import { getPreferences } from './me/ai/get-preferences.ts';
import { savePreferences } from './me/ai/save-preferences.ts';
import { listAuthorizations } from './me/authorizations/list-authorizations.ts';
import { revokeAuthorization } from './me/authorizations/revoke-authorization.ts';
import { deleteVideo } from './me/delete-video.ts';
import { getVideo } from './me/get-video.ts';
import { deleteServer } from './me/mcp-servers/delete-server.ts';
import { listServers } from './me/mcp-servers/list-servers.ts';
import { saveServer } from './me/mcp-servers/save-server.ts';
import { listSessions } from './me/sessions/list-sessions.ts';
import { revokeSessions } from './me/sessions/revoke-sessions.ts';
import { countMessageTokens } from './messages/count-tokens.ts';
import { createMessage } from './messages/create-message.ts';
import { getModel } from './models/get-model.ts';
import { listLlmModels } from './models/list-llm-models.ts';
import { listModels } from './models/list-models.ts';
import { authorizePage } from './oauth/authorize.ts';
import { createDeviceCode } from './oauth/create-device-code.ts';
import { decideAuthorization } from './oauth/decide-authorization.ts';
import { getAuthorizationServer, getProtectedResource } from './oauth/metadata.ts';
import { revokeToken } from './oauth/revoke-token.ts';
import { createToken } from './oauth/token.ts';
import { getUserInfo } from './oauth/user-info.ts';
import { verifyDevice } from './oauth/verify-device.ts';
import { openApiRoutes } from './openapi/routes.ts';
import { organizationRoutes } from './organizations/table.ts';
import { getAuditVerifier } from './pages/audit-verifier.ts';
import { docsRoutes } from './pages/docs.ts';
import { identityPageRoutes } from './pages/identity/pages.ts';
import { lendKeyRoute } from './pages/lend-key.ts';
import { clearMailbox, listMailboxMessages } from './pages/mailbox/messages.ts';
import { mailboxPageRoutes } from './pages/mailbox/page.ts';
import { searchPageRoutes } from './pages/search/page.ts';
import { lendVideoSession } from './pages/video/lend-session.ts';
import { videoPageRoutes } from './pages/video/page.ts';
import { voicePageRoutes } from './pages/voice/page.ts';
import { receiveWebhook } from './payments/receive-webhook.ts';
import { createPurchase } from './purchases/create-purchase.ts';
import { getInvoice } from './purchases/get-invoice.ts';
import { getPurchase } from './purchases/get-purchase.ts';
import { listPurchases } from './purchases/list-purchases.ts';
import { verifyPurchase } from './purchases/verify-purchase.ts';
import { createQuery } from './query/create-query.ts';
import { getReleaseArchive } from './releases/get-archive.ts';
import { listPublishedReleases } from './releases/list-releases.ts';
import { cancelResponse } from './responses/cancel-response.ts';
import { compactResponse } from './responses/compact-response.ts';
import { countResponseTokens } from './responses/count-tokens.ts';
import { createResponse } from './responses/create-response.ts';
import { deleteResponse } from './responses/delete-response.ts';
import { getResponse } from './responses/get-response.ts';
import { listInputItems } from './responses/list-input-items.ts';
import { openResponseSocket } from './responses/open-socket.ts';
import { getReferral } from './rewards/get-referral.ts';
import { listSubmissions } from './rewards/list-submissions.ts';
import { listRewardTasks } from './rewards/list-tasks.ts';
import { redeemCode } from './rewards/redeem-code.ts';
import { startTask } from './rewards/start-task.ts';
import { submitEvidence } from './rewards/submit-evidence.ts';
import type { Access, Caller, Services } from './services.ts';
import { cancelJob } from './video/cancel-job.ts';
import { createVideoAnalysis } from './video/create-analysis.ts';
import { createJob } from './video/create-job.ts';
import { getVideoAnalysis } from './video/get-analysis.ts';
import { getContent } from './video/get-content.ts';
import { getJob } from './video/get-job.ts';
import { listJobs } from './video/list-jobs.ts';
import { createTicket } from './voice/create-ticket.ts';
import { listVoices } from './voice/list-voices.ts';
import { openSession } from './voice/open-session.ts';

export const routes: readonly AppRoute[] = [
  // Discovery: no key needed.
  health,
  catalog,
  publicModels,
  modelStatus,
  listPublishedReleases,
  getReleaseArchive,
  socialProfiles,
  ...openApiRoutes(() => routes),
  ...docsRoutes<Access, Caller, Services>({ kind: 'none' }),
  getAuditVerifier,
  ...identityPageRoutes,
  ...voicePageRoutes,
  lendKeyRoute('voice', 'talking'),
  ...videoPageRoutes,
  lendVideoSession,
  ...searchPageRoutes,
  lendKeyRoute('search', 'searching'),
  ...mailboxPageRoutes,
  listMailboxMessages,
  clearMailbox,

  // Generation: an API key with its scope.
  listModels,
  getModel,
  listLlmModels,
  createChatCompletion,
  createResponse,
  openResponseSocket,
  countResponseTokens,
  compactResponse,
  createLegacyResponse,
  getResponse,
  deleteResponse,
  cancelResponse,
  listInputItems,
  createMessage,
  countMessageTokens,
  getGeneration,
  cancelGeneration,

  // Voice: a key with its scope, or a signed-in user.
  listVoices,
  createTicket,
  openSession,

  // Audio: an API key with its scope.
  createSpeech,
  createTranscription,

  // Queries: a key with its scope, or a signed-in user.
  createQuery,

  // Video: a key with its scope, or a signed-in user; analyses: a key.
  createJob,
  listJobs,
  getJob,
  cancelJob,
  getContent,
  createVideoAnalysis,
  getVideoAnalysis,
  getVideo,
  deleteVideo,

  // Signing in, on pages by a code and in apps by a password.
  requestCode,
  verifyCode,
  getBrowserSession,
  logOutBrowser,
  register,
  login,
  getAppSession,
  logOutApp,
  sendEmailCode,
  verifyEmail,
  changePassword,
  resetPassword,
  confirmReset,
  // The caller itself: by a session, no app for it.
  getAccount,
  updateAccount,
  changeEmail,
  verifyNewEmail,
  deleteAccount,
  listSessions,
  revokeSessions,
  listAuthorizations,
  revokeAuthorization,
  createExport,
  getExport,
  getArchive,

  // The caller's own account.
  listKeys,
  createKey,
  updateKey,
  rotateKey,
  revokeKey,
  dashboard,
  billingSummary,
  getInvoice,
  getPreferences,
  savePreferences,
  listServers,
  saveServer,
  deleteServer,

  // Apps: what they tell, and what they are told.
  listNotifications,
  readNotifications,
  tellInstallation,
  tellActivity,
  tellError,
  giveFeedback,
  listRewardTasks,
  listSubmissions,
  startTask,
  submitEvidence,
  redeemCode,
  getReferral,
  billingLedger,
  billingExport,
  getSettings,
  updateSettings,
  createPurchase,
  verifyPurchase,
  listPurchases,
  getPurchase,
  receiveWebhook,

  // Organizations: a user, by its role.
  ...organizationRoutes,

  // Apps that act for people: OAuth 2.0.
  getAuthorizationServer,
  getProtectedResource,
  createToken,
  revokeToken,
  createDeviceCode,
  getUserInfo,
  authorizePage,
  decideAuthorization,
  verifyDevice,

  // Administration.
  adminStatus,
  ...catalogRoutes,
  testProvider,
  testSurface,
  testPaymentProvider,
  renewSecret,
  getOnlyRecord(identityResource),
  putOnlyRecord(identityResource, identitySchema.entries),
  getOnlyRecord(billingResource),
  putOnlyRecord(billingResource, billingSchema.entries),
  getOnlyRecord(organizationDefaultsResource),
  putOnlyRecord(organizationDefaultsResource, organizationDefaultsSchema.entries),
  listAllSubmissions,
  reviewSubmission,
  listUsers,
  createUser,
  getUser,
  updateUser,
  disableUser,
  enableUser,
  listUserSessions,
  listUserAuthorizations,
  signOutUser,
  deleteUser,
  restoreUser,
  listUserKeys,
  createUserKey,
  updateUserKey,
  revokeUserKey,
  listWallets,
  getWallet,
  listLedger,
  grantCredits,
  revokeGrant,
  listAllPurchases,
  getAnyPurchase,
  refundPurchase,
  recheckPurchase,
  listPurchaseEvents,
  listAnomalies,
  restrictBilling,
  debitWallet,
  listAllJobs,
  getAnyJob,
  failJob,
  getMail,
  sendTestMail,
  listAdminNotices,
  createNotice,
  getNotice,
  updateNotice,
  removeNotice,
  listAdminReleases,
  createRelease,
  getRelease,
  updateRelease,
  removeRelease,
  putArchive,
  getAdminSocialProfiles,
  putAdminSocialProfiles,
  listAdminFeedback,
  updateFeedback,
  removeFeedback,
  listAdminErrors,
  getAppError,
  updateAppError,
  removeAppError,
  listActivity,
  listAdminInstallations,
  removeInstallation,
  listAudit,
];
