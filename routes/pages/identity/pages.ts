// The pages on which people sign in, let devices act for them, and see to their account.
import type { AppRoute } from '../../define.ts';
import { fileRoutes } from '../page-files.ts';
import { openPage, ownPage } from './gate.ts';

export const identityPageRoutes: readonly AppRoute[] = [
  openPage({
    path: '/signin',
    operationId: 'getSignInPage',
    summary: 'The page to sign in',
    ...{ name: 'sign-in', title: 'Sign in', module: 'sign-in' },
  }),
  openPage({
    path: '/signup',
    operationId: 'getSignUpPage',
    summary: 'The page to make an account',
    ...{ name: 'sign-in', title: 'Create an account', module: 'sign-in' },
  }),
  ownPage({
    path: '/oauth/device',
    operationId: 'getDevicePage',
    summary: 'The page to let a device act for its owner',
    ...{ name: 'device', title: 'Connect a device', module: 'device' },
  }),
  ownPage({
    path: '/account',
    operationId: 'getAccountPage',
    summary: 'The page of the account of who is signed in',
    ...{ name: 'account', title: 'Account', module: 'account', current: '/account' },
  }),
  ownPage({
    path: '/account/sessions',
    operationId: 'getSessionsPage',
    summary: 'The page that shows where a person is signed in',
    ...{ name: 'sessions', title: 'Sessions', module: 'sessions', current: '/account/sessions' },
  }),
  ownPage({
    path: '/account/apps',
    operationId: 'getAppsPage',
    summary: 'The page of the apps that a person lets act',
    ...{ name: 'apps', title: 'Connected apps', module: 'apps', current: '/account/apps' },
  }),
  ownPage({
    path: '/account/invitations',
    operationId: 'getInvitationsPage',
    summary: 'The page of the organizations that wait for a person',
    ...{ name: 'invitations', title: 'Invitations', module: 'invitations' },
    current: '/account/invitations',
  }),
  ...fileRoutes({
    name: 'identity',
    styleName: 'base.css',
    modules: [
      'account',
      'act',
      'approval',
      'apps',
      'armed',
      'asking',
      'call',
      'code',
      'confirm',
      'countdown',
      'device',
      'dom',
      'erase',
      'export',
      'field',
      'invitations',
      'listing',
      'new-address',
      'page',
      'pending',
      'person-fields',
      'profile',
      'return-to',
      'scopes',
      'sessions',
      'shell',
      'sign-in',
      'words',
    ],
  }),
];
